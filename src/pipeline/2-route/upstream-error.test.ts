import { describe, expect, test } from 'vitest';
import { answeredWithError, noAnswer, retryable } from './upstream-error.ts';

describe('what the client is told', () => {
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

  test('not what a provider says of our credentials', () => {
    expect(answeredWithError(401, 'Incorrect API key: sk-abc', undefined, []).message).not.toContain('sk-abc');
  });

  test('a timeout is 504 and only a timeout is', () => {
    expect(noAnswer('timeout', [])).toMatchObject({ code: 'upstream_timeout', status: 504 });
    for (const kind of ['connect', 'reset', 'protocol'] as const) expect(noAnswer(kind, []).status).toBe(502);
  });
});

test('retries are for faults that may pass', () => {
  expect([408, 409, 429, 500, 503, 529].every(retryable)).toBe(true);
  expect([400, 401, 403, 404, 413, 422].some(retryable)).toBe(false);
});
