import { describe, expect, test } from 'vitest';
import { errorHeaders } from '#/errors/envelopes.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { AnswerWithoutEnd, UpstreamFault, type UpstreamFaultKind } from '#/ports/provider.ts';
import {
  againAfter,
  againAfterFault,
  answeredWithError,
  noAnswer,
  nobodyToAsk,
  outcomeOf,
  outcomeOfFault,
  refusesAccount,
  ReportedFailure,
} from './upstream-error.ts';

describe('the error that the client gets', () => {
  test.each([
    [400, 'provider_rejected_request', 400],
    [404, 'provider_rejected_request', 404],
    [413, 'provider_rejected_request', 413],
    [422, 'provider_rejected_request', 422],
    [401, 'upstream_error', 502],
    [403, 'upstream_error', 502],
    [402, 'upstream_error', 502],
    [429, 'upstream_overloaded', 503],
    [500, 'upstream_error', 502],
    [503, 'upstream_overloaded', 503],
    [529, 'upstream_overloaded', 503],
  ] as const)('status %i is %s', (status, code, told) => {
    expect(answeredWithError(status, 'words', undefined, [])).toMatchObject({ code, status: told });
  });

  test("what a provider says of an account, unless it is the platform's", () => {
    const told = (managed: boolean): string =>
      answeredWithError(401, 'The trial of acct-1 is over.', undefined, [], managed).message;
    expect(told(false)).toContain(': The trial of acct-1 is over.');
    expect(told(true)).not.toContain('acct-1');
  });

  test('a timeout is 504 and only a timeout is', () => {
    expect(noAnswer(new UpstreamFault('timeout', 'x'), [])).toMatchObject({ code: 'upstream_timeout', status: 504 });
    const cause = new AnswerWithoutEnd(3600);
    const { code, message } = noAnswer(new UpstreamFault('timeout', 'x', { cause }), []);
    expect([code, message]).toEqual(['upstream_timeout', expect.stringContaining('within 3600 seconds')]);
    for (const kind of ['connect', 'reset', 'protocol'] as const)
      expect(noAnswer(new UpstreamFault(kind, 'x'), []).status).toBe(502);
  });
});

describe('after an attempt that failed', () => {
  test.each([
    [[408, 409, 429, 500, 502, 503, 529], undefined, 'here'],
    [[400, 404, 413, 422], undefined, 'nowhere'],
    [[401, 402, 403], undefined, 'elsewhere'],
    [[500, 503, 429], false, 'elsewhere'],
    [[400], true, 'here'],
    [[400], false, 'nowhere'],
  ] as const)('status %j, retryable %s: again %s', (statuses, retryable, again) => {
    for (const status of statuses) expect([status, againAfter(status, { retryable })]).toEqual([status, again]);
  });

  test('what may still run is not asked for again', () => {
    const kinds = ['connect', 'reset', 'protocol', 'timeout', 'aborted'] as const;
    expect(kinds.map(againAfterFault)).toEqual(['here', 'here', 'elsewhere', 'nowhere', 'nowhere']);
  });

  test('an account is refused by 401, 402, 403, and a 429 that no waiting helps against', () => {
    const refused = [401, 402, 403, 429, 500].map((status) => refusesAccount(status, { retryable: undefined }));
    expect(refused).toEqual([true, true, true, false, false]);
    expect(refusesAccount(429, { retryable: false })).toBe(true);
  });
});

describe('what an attempt says of the upstream', () => {
  test.each([
    [[502, 503, 504, 529], 'gone'],
    [[500, 501, 520], 'failed'],
    [[400, 404, 413, 422], 'served'],
    [[401, 403, 408, 409, 429, 302], 'unknown'],
  ] as const)('status %j: %s', (statuses, outcome) => {
    for (const status of statuses) expect([status, outcomeOf(status)]).toEqual([status, outcome]);
  });

  test('a fault, where it is the provider’s', () => {
    const of = (kind: UpstreamFaultKind, fair = true) => outcomeOfFault(new UpstreamFault(kind, 'x'), fair);
    expect([of('connect'), of('reset'), of('protocol'), of('aborted')]).toEqual(['gone', 'gone', 'failed', 'unknown']);
    expect([of('timeout'), of('timeout', false)]).toEqual(['gone', 'unknown']);
    const reported = new ReportedFailure('x', undefined);
    expect(outcomeOfFault(reported, true)).toBe('failed');
    expect(outcomeOfFault(new GatewayError('server_restarting', 'x'), true)).toBe('unknown');
    expect(outcomeOfFault(new TypeError('a fault of ours'), true)).toBe('unknown');
  });
});

test('when no upstream may be asked, the error names the soonest', () => {
  const error = nobodyToAsk([
    { waitMs: 9000, cause: 'circuit_open' },
    { waitMs: 400, cause: 'overloaded' },
  ]);
  expect(error).toMatchObject({ status: 503, retryAfterMs: 400, report: { cause: 'overloaded', attempts: [] } });
  expect(errorHeaders(error)).toEqual({ 'retry-after': '1', 'retry-after-ms': '400' });
});
