import { describe, expect, test } from 'vitest';
import { CATALOGUE, type ErrorCode } from './catalogue.ts';
import { messagesEnvelope } from './envelopes.ts';
import { GatewayError } from './gateway-error.ts';

const typeOf = (code: ErrorCode, status?: number): string =>
  messagesEnvelope(new GatewayError(code, 'x', status === undefined ? {} : { status }), 'id').error.type;

describe('the messages envelope', () => {
  test('has the members of the protocol and no others', () => {
    const report = { cause: 'status', attempts: [{ provider: 'p', model: 'm', status: 500, duration_ms: 1 }] };
    const error = new GatewayError('upstream_error', 'The provider failed.', { param: 'model', report });
    expect(messagesEnvelope(error, '0190')).toEqual({
      type: 'error',
      error: { type: 'api_error', message: 'The provider failed.' },
      request_id: '0190',
    });
  });

  test('tells every code of the catalogue by its type', () => {
    for (const [code, { messagesType }] of Object.entries(CATALOGUE)) {
      expect([code, typeOf(code as ErrorCode)]).toEqual([code, messagesType]);
    }
  });

  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [405, 'api_error'],
    [409, 'conflict_error'],
    [413, 'request_too_large'],
    [422, 'invalid_request_error'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [503, 'overloaded_error'],
    [529, 'overloaded_error'],
  ])("tells a provider's own %i as %s", (status, type) => {
    expect(typeOf('provider_rejected_request', status)).toBe(type);
  });

  test("keeps the catalogue's type where the status is the catalogue's", () => {
    expect(typeOf('auth_unavailable', 503)).toBe('api_error');
    expect(typeOf('upstream_overloaded')).toBe('overloaded_error');
  });
});
