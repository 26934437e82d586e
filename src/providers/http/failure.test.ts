import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { skipUnless } from '../../../test/harness/skip.ts';
import { readFailure } from './failure.ts';

const failure = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  readFailure({ status, header: (name) => headers[name] }, typeof body === 'string' ? body : JSON.stringify(body));

describe("the provider's own words", () => {
  test.each<readonly [string, unknown, string | undefined]>([
    ['OpenAI', { error: { message: 'too long', type: 'invalid_request_error', param: null, code: null } }, 'too long'],
    [
      'Anthropic',
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'r' },
      'Overloaded',
    ],
    [
      'Mistral',
      { object: 'error', message: 'no such model', type: 'invalid_model', param: null, code: 1500 },
      'no such model',
    ],
    [
      'Mistral, in detail',
      {
        object: 'error',
        message: { detail: [{ type: 'extra_forbidden', loc: ['body', 'seed'], msg: 'Extra inputs', input: 'secret' }] },
      },
      'body.seed: Extra inputs',
    ],
    [
      'Mistral, bare',
      { detail: [{ type: 'missing', loc: ['body', 'messages', 0], msg: 'Field required' }, { msg: 'and this' }] },
      'body.messages.0: Field required; and this',
    ],
    ['xAI', { code: 'invalid-argument', error: 'Model not found' }, 'Model not found'],
    ['xAI, like OpenAI', { error: { message: 'x' } }, 'x'],
    ["Azure's front door", { statusCode: 401, message: 'Access denied' }, 'Access denied'],
    ['a single detail', { detail: 'Not found' }, 'Not found'],
    ['TypeSafe', { detail: { error_type: 'x', message: 'bad state' } }, 'bad state'],
    ['Google', { error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }, 'bad'],
    ['Google, as a list', [{ error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }], 'bad'],
    ['a page', '<html>Bad gateway</html>', undefined],
    ['an empty message', { error: { message: '' } }, undefined],
    ['nothing', '', undefined],
    ['a list of nothing', [], undefined],
    ['details of nothing', { detail: [null, 3, {}] }, undefined],
    ['objects as a path', { detail: [{ loc: [{}, 'a'], msg: 'm' }] }, 'a: m'],
  ])('%s', (_name, body, message) => {
    expect(failure(400, body).message).toBe(message);
  });

  test('are bounded', () => {
    expect(failure(400, { message: 'x'.repeat(9999) }).message).toHaveLength(2000);
    const many = Array.from({ length: 500 }, () => ({ msg: 'y'.repeat(500) }));
    expect(failure(422, { detail: many }).message).toHaveLength(2000);
  });
});

describe('how long it asks us to wait, in milliseconds', () => {
  test.each<readonly [number, Readonly<Record<string, string>>, number | undefined]>([
    [429, {}, undefined],
    [429, { 'retry-after': '2' }, 2000],
    [503, { 'retry-after': '2' }, 2000],
    [429, { 'retry-after-ms': '150', 'retry-after': '2' }, 150],
    [429, { 'retry-after-ms': '-1', 'retry-after': '2' }, 2000],
    [429, { 'retry-after': '0' }, 0],
    [429, { 'retry-after': '-5' }, 0],
    [429, { 'retry-after': '1e999' }, undefined],
    [429, { 'retry-after': '' }, undefined],
    [429, { 'retry-after': 'soon' }, undefined],
    [429, { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
    [429, { 'retry-after': '99999999' }, 86_400_000],
    [429, { 'x-ratelimit-reset-requests': '6m0s' }, 360_000],
    [429, { 'x-ratelimit-reset-tokens': '12ms' }, 12],
    [429, { 'x-ratelimit-reset-requests': '1h2m3.5s' }, 3_723_500],
    [429, { 'x-ratelimit-reset-requests': '7.66' }, 7660],
    [429, { 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '8s' }, 8000],
    [
      429,
      {
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '8s',
        'x-ratelimit-remaining-tokens': '50',
      },
      1000,
    ],
    [429, { 'retry-after': '3', 'x-ratelimit-reset-requests': '6m0s' }, 3000],
    [500, { 'x-ratelimit-reset-requests': '6m0s' }, undefined],
    [429, { 'x-ratelimit-reset-requests': 'ms' }, undefined],
    [429, { 'x-ratelimit-reset-requests': '' }, undefined],
  ])('%i %j', (status, headers, expected) => {
    expect(failure(status, {}, headers).retryAfterMs).toBe(expected);
  });

  test('a date is counted from now', () => {
    const { retryAfterMs } = failure(429, {}, { 'retry-after': new Date(Date.now() + 60_000).toUTCString() });
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });
});

describe('whether asking again can help', () => {
  const quota = (quotaId: string) => ({
    error: {
      code: 429,
      details: [{ '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId }] }],
    },
  });

  test.each<readonly [string, unknown, Readonly<Record<string, string>>, boolean | undefined]>([
    ['as the status says', { error: { message: 'slow down', code: 'rate_limit_exceeded' } }, {}, undefined],
    ['no money', { error: { code: 'insufficient_quota' } }, {}, false],
    ['no money, by type', { error: { type: 'insufficient_quota' } }, {}, false],
    ['told to', {}, { 'x-should-retry': 'true' }, true],
    ['told not to', {}, { 'x-should-retry': 'false' }, false],
    ['told nothing', {}, { 'x-should-retry': 'maybe' }, undefined],
    ["Google's quota of the day", quota('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), {}, false],
    ["Google's quota of the minute", quota('GenerateRequestsPerMinutePerProjectPerModel'), {}, undefined],
    [
      'hostile details',
      { error: { details: [null, { '@type': 3 }, { '@type': 'x.QuotaFailure', violations: [null] }] } },
      {},
      undefined,
    ],
  ])('%s', (_name, body, headers, expected) => {
    expect(failure(429, body, headers).retryable).toBe(expected);
  });
});

const RECORDING = new URL('../../../../shared/recordings/google/google-429-retry-info.json', import.meta.url).pathname;

test(
  'Google says in the body how long to wait',
  skipUnless(existsSync(RECORDING), 'the recordings of provider answers are not here'),
  () => {
    expect(failure(429, readFileSync(RECORDING, 'utf8'))).toEqual({
      message: 'You exceeded your current quota, please check your plan.',
      retryAfterMs: 34_400,
      retryable: undefined,
      status: undefined,
    });
  },
);
