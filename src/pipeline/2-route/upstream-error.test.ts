import { describe, expect, test } from 'vitest';
import { answeredWithError, noAnswer, providerMessage, retryable, retryHint } from './upstream-error.ts';

const header = (headers: Record<string, string>) => (name: string) => headers[name];

describe('retry hints, in milliseconds', () => {
  test.each([
    [{}, undefined],
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after-ms': '150', 'retry-after': '2' }, 150],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ])('%j', (headers, expected) => {
    expect(retryHint(header(headers as Record<string, string>))).toBe(expected);
  });
});

describe('provider words', () => {
  test.each([
    ['{"error":{"message":"too long"}}', 'too long'],
    ['{"message":"mistral says"}', 'mistral says'],
    ['{"error":"xai says"}', 'xai says'],
    ['{"error":{"message":""},"detail":"x"}', undefined],
    ['<html>Bad gateway</html>', undefined],
    ['[]', undefined],
    ['', undefined],
  ])('%s', (body, expected) => {
    expect(providerMessage(body)).toBe(expected);
  });

  test('are bounded', () => {
    expect(providerMessage(JSON.stringify({ message: 'x'.repeat(9999) }))).toHaveLength(2000);
  });
});

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
