import { describe, expect, test } from 'vitest';
import { CATALOGUE, type ErrorCode } from './catalogue.ts';
import { chatEnvelope, errorHeaders, messagesEnvelope } from './envelopes.ts';
import { asGatewayError, GatewayError } from './gateway-error.ts';

/** The table of the specification, row by row: status, then type or code as it is promised. */
const PROMISED: readonly (readonly [ErrorCode, number, string])[] = [
  ['invalid_request', 400, 'invalid_request_error'],
  ['model_not_prefixed', 400, 'invalid_request_error'],
  ['header_removed', 400, 'invalid_request_error'],
  ['invalid_api_key', 401, 'authentication_error'],
  ['insufficient_quota', 402, 'insufficient_quota'],
  ['permission_denied', 403, 'permission_error'],
  ['residency_denied', 403, 'permission_error'],
  ['scope_violation', 403, 'permission_error'],
  ['data_protection', 422, 'invalid_request_error'],
  ['document_too_large_to_scan', 422, 'invalid_request_error'],
  ['rate_limit_exceeded', 429, 'rate_limit_error'],
  ['pdf_renderer_unavailable', 503, 'api_error'],
  ['scope_guard_unavailable', 503, 'api_error'],
  ['auth_unavailable', 503, 'api_error'],
  ['upstream_timeout', 504, 'api_error'],
  ['upstream_error', 502, 'api_error'],
];

test.each(PROMISED)('%s is %i %s', (code, status, type) => {
  expect(CATALOGUE[code]).toMatchObject({ status, chatType: type });
});

test.each(Object.entries(CATALOGUE))(
  '%s says either when to come back or that it is final',
  (code, { shouldRetry }) => {
    const headers = errorHeaders(new GatewayError(code as ErrorCode, 'x'));
    if (shouldRetry) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers).toEqual(
      shouldRetry ? { 'retry-after': expect.any(String) as string } : { 'x-should-retry': 'false' },
    );
  },
);

test('no refusal of a request itself is one to repeat, and what is there for good promises nothing', () => {
  const kinds = Object.entries(CATALOGUE).filter(([, { status }]) => status < 500 && status !== 429);
  expect(kinds.filter(([, { shouldRetry }]) => shouldRetry)).toEqual([]);
  const absent = new GatewayError('local_model_unavailable', 'x', { shouldRetry: false });
  expect(errorHeaders(absent)).toEqual({ 'x-should-retry': 'false' });
});

describe('envelopes', () => {
  test('hold message, type, param and code, and gw only where there is something to tell', () => {
    expect(chatEnvelope(new GatewayError('invalid_request', 'no', { param: 'n' }))).toEqual({
      error: { message: 'no', type: 'invalid_request_error', param: 'n', code: 'invalid_request' },
    });
    const report = { cause: 'timeout', attempts: [{ provider: 'p', model: 'm', error: 'timeout', duration_ms: 5 }] };
    expect(chatEnvelope(new GatewayError('upstream_timeout', 'late', { report })).error.gw).toEqual(report);
  });

  test('say on the messages surface what its client libraries act on', () => {
    const refused = new GatewayError('thread_unsupported_request', 'no threads');
    expect(messagesEnvelope(refused, 'call-1')).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'no threads',
        details: { error_code: 'thread_unsupported_request' },
      },
      request_id: 'call-1',
    });
    expect(messagesEnvelope(new GatewayError('invalid_request', 'no'), 'call-1').error).not.toHaveProperty('details');
  });

  test('an unforeseen fault says nothing of itself', () => {
    const error = asGatewayError(new TypeError('secret sk-123 at /srv/x.ts'));
    expect(error).toMatchObject({ code: 'internal_error', status: 500 });
    expect(JSON.stringify(chatEnvelope(error))).not.toMatch(/secret|srv/);
  });

  test('a wait is whole seconds, rounded up, and told exactly where it is less than one', () => {
    const told = (retryAfterMs: number) => errorHeaders(new GatewayError('rate_limit_exceeded', 'x', { retryAfterMs }));
    expect([1001, 1000, 320.4, 0].map(told)).toEqual([
      { 'retry-after': '2' },
      { 'retry-after': '1' },
      { 'retry-after': '1', 'retry-after-ms': '321' },
      { 'retry-after': '1', 'retry-after-ms': '1' },
    ]);
  });

  test('a library that comes back by itself is told no wait that it would not keep to', () => {
    const told = (code: ErrorCode, shouldRetry?: boolean) =>
      errorHeaders(
        new GatewayError(code, 'x', { retryAfterMs: 90_000, ...(shouldRetry !== undefined && { shouldRetry }) }),
      );
    expect(told('rate_limit_exceeded')).toEqual({ 'retry-after': '60' });
    expect(told('rate_limit_exceeded', false)).toEqual({ 'retry-after': '90', 'x-should-retry': 'false' });
    expect(told('upstream_overloaded')).toEqual({ 'retry-after': '90', 'x-should-retry': 'false' });
    expect(told('upstream_overloaded', true)).toEqual({ 'retry-after': '60' });
  });
});
