import { brokenJson, cutOff, hang, json, notHttp, sse, text } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { busy, CHUNK, dailyQuota, flood, GOOD, retryInfo } from './fault-answers.ts';

/** How a call is asked for. */
export type Mode = 'buffered' | 'streamed';

/** What one attempt came to, as `error.gw` and the audit row tell it. */
type Attempt = { readonly status: number } | { readonly error: string; readonly status?: number };

/** What becomes of a call. */
export interface Fate {
  /** HTTP status of the answer; of a stream that broke off, 200. */
  readonly status: number;
  /** `error.code`, in the body or in the event that ends a stream; undefined: the call is served. */
  readonly code?: string;
  /** `error.gw.cause`. */
  readonly cause?: string;
  readonly attempts: readonly Attempt[];
  /** What it costs: nothing, as the provider reported, or as was counted here of what was seen. */
  readonly money: 'none' | 'reported' | 'estimated';
  /** Header; a pattern where it depends on the time. */
  readonly retryAfter?: string | RegExp;
  /** The client's library is told not to repeat it. Default: whenever the call failed behind the gateway. */
  readonly shouldRetry?: false | null;
}

/** Something that goes wrong at a provider, and what becomes of the call, by how it was asked for. */
export interface Fault {
  readonly name: string;
  /** Slug; default `upstream`, which speaks chat completions. */
  readonly provider?: string;
  readonly answers?: Answer | readonly [Answer, ...Answer[]] | Readonly<Record<Mode, Answer>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fate: Fate | Readonly<Record<Mode, Fate>>;
}

/** Where providers allow five attempts, a call makes three. */
const times = (attempt: Attempt): readonly Attempt[] => [attempt, attempt, attempt];

const recovered = (...before: Attempt[]): Fate => ({
  status: 200,
  attempts: [...before, { status: 200 }],
  money: 'reported',
});
const overloaded = (attempts: readonly Attempt[], retryAfter?: string | RegExp): Fate => ({
  status: 503,
  code: 'upstream_overloaded',
  cause: 'overloaded',
  attempts,
  money: 'none',
  ...(retryAfter !== undefined && { retryAfter }),
});
const failed = (cause: string, attempts: readonly Attempt[], money: Fate['money'] = 'none'): Fate => ({
  status: 502,
  code: 'upstream_error',
  cause,
  attempts,
  money,
});
/** A stream that had begun ends with an event. */
const broken = (cause: string, attempt: Attempt): Fate => ({
  ...failed(cause, [attempt], 'estimated'),
  status: 200,
  shouldRetry: null,
});

/** Faults that pass within a call's attempts. */
const PASSING: readonly Fault[] = [
  {
    name: 'a reset, then a 500',
    answers: [cutOff('reset'), json({ error: { message: 'x' } }, 500), GOOD],
    fate: recovered({ error: 'reset' }, { status: 500 }),
  },
  {
    name: 'a 503 page of HTML',
    answers: [text('<h1>Busy</h1>', { status: 503 }), GOOD],
    fate: recovered({ status: 503 }),
  },
  { name: 'a 529', answers: [json({ error: { message: 'x' } }, 529), GOOD], fate: recovered({ status: 529 }) },
  { name: 'a 429 without a hint', answers: [busy(), GOOD], fate: recovered({ status: 429 }) },
  {
    name: 'a 429 with retry-after-ms',
    answers: [busy({ 'retry-after-ms': '20' }), GOOD],
    fate: recovered({ status: 429 }),
  },
  {
    name: 'a 429 with retry-after in seconds',
    answers: [busy({ 'retry-after': '1' }), GOOD],
    fate: recovered({ status: 429 }),
  },
  {
    name: 'a 429 with retry-after as a date',
    answers: [(exchange) => busy({ 'retry-after': new Date(Date.now() + 1500).toUTCString() })(exchange), GOOD],
    fate: recovered({ status: 429 }),
  },
  {
    name: 'a 429 with retryDelay in its body',
    answers: [busy({}, retryInfo('0.02s')), GOOD],
    fate: recovered({ status: 429 }),
  },
  {
    name: 'a 429 whose used-up limit starts afresh',
    answers: [
      busy({
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '20ms',
        'x-ratelimit-reset-requests': '6m0s',
      }),
      GOOD,
    ],
    fate: recovered({ status: 429 }),
  },
];

/** Faults that do not. */
const LASTING: readonly Fault[] = [
  { name: 'nobody listens', provider: 'nowhere', fate: failed('connect', times({ error: 'connect' })) },
  { name: 'the connection is cut each time', answers: cutOff('fin'), fate: failed('reset', times({ error: 'reset' })) },
  {
    name: 'a 500 each time',
    answers: json({ error: { message: 'x' } }, 500),
    fate: failed('status', times({ status: 500 })),
  },
  {
    name: 'a 529 each time',
    answers: json({ error: { message: 'x' } }, 529),
    fate: overloaded(times({ status: 529 })),
  },
  { name: 'a 429 each time', answers: busy(), fate: overloaded(times({ status: 429 })) },
  {
    name: 'a 429 that asks for a long wait in seconds',
    answers: busy({ 'retry-after': '90' }),
    fate: overloaded([{ status: 429 }], '90'),
  },
  {
    name: 'a 429 that asks for a long wait as a date',
    answers: (exchange) => busy({ 'retry-after': new Date(Date.now() + 45_000).toUTCString() })(exchange),
    fate: overloaded([{ status: 429 }], /^4[345]$/),
  },
  {
    name: 'a 429 that asks for a long wait in its body',
    provider: 'gemini',
    answers: busy({}, retryInfo('45.837906927s')),
    fate: overloaded([{ status: 429 }], '46'),
  },
  {
    name: 'a quota of the day',
    provider: 'gemini',
    answers: busy({}, dailyQuota),
    fate: overloaded([{ status: 429 }]),
  },
  {
    name: 'an account without money',
    answers: busy({}, { error: { message: 'slow down', code: 'insufficient_quota' } }),
    fate: overloaded([{ status: 429 }]),
  },
  {
    name: 'a throttling exception',
    provider: 'bedrock',
    answers: json({ message: 'slow down' }, 400, { 'x-amzn-errortype': 'ThrottlingException:http://x/' }),
    fate: overloaded(times({ status: 429 })),
  },
  {
    name: 'credentials refused',
    answers: json({ error: { message: 'Incorrect API key provided: sk-secret' } }, 401),
    fate: failed('credentials', [{ status: 401 }]),
  },
  {
    name: 'the request rejected',
    answers: json({ error: { message: 'temperature must be at most 1' } }, 400),
    fate: {
      status: 400,
      code: 'provider_rejected_request',
      cause: 'rejected',
      attempts: [{ status: 400 }],
      money: 'none',
    },
  },
  { name: 'what is not HTTP', answers: notHttp(), fate: failed('protocol', [{ error: 'protocol' }]) },
];

/** Faults after which the provider may be, or was, at work: nothing is asked for twice, and what was seen is billed. */
const COSTLY: readonly Fault[] = [
  {
    name: 'no answer in time',
    answers: hang(),
    headers: { 'x-gw-upstream-timeout': '1' },
    fate: {
      status: 504,
      code: 'upstream_timeout',
      cause: 'timeout',
      attempts: [{ error: 'timeout' }],
      money: 'estimated',
    },
  },
  {
    name: 'silence after a first word',
    answers: {
      buffered: brokenJson({ choices: [{ message: { content: 'x'.repeat(100) } }] }, 50, 'hang'),
      streamed: sse([{ data: CHUNK }], { ending: 'hang' }),
    },
    headers: { 'x-gw-upstream-timeout': '1' },
    fate: {
      buffered: {
        status: 504,
        code: 'upstream_timeout',
        cause: 'timeout',
        attempts: [{ status: 200, error: 'timeout' }],
        money: 'estimated',
      },
      streamed: { ...broken('timeout', { status: 200, error: 'timeout' }), code: 'upstream_timeout' },
    },
  },
  {
    name: 'an answer cut in the middle',
    answers: {
      buffered: brokenJson({ choices: [{ message: { content: 'x'.repeat(100) } }] }, 50),
      streamed: sse([{ data: CHUNK }], { ending: 'reset' }),
    },
    fate: {
      buffered: failed('reset', [{ status: 200, error: 'reset' }], 'estimated'),
      streamed: broken('reset', { status: 200, error: 'reset' }),
    },
  },
  {
    name: 'an end without a finish',
    answers: { buffered: json({ id: 'x', choices: [] }), streamed: sse([{ data: CHUNK }]) },
    fate: {
      buffered: failed('protocol', [{ status: 200, error: 'protocol' }], 'estimated'),
      streamed: broken('reset', { status: 200, error: 'reset' }),
    },
  },
  {
    name: 'garbage',
    answers: {
      buffered: text('garbage', { headers: { 'content-type': 'application/json' } }),
      streamed: sse([{ raw: 'data: {"choices":[{]\n\n' }]),
    },
    fate: failed('protocol', [{ status: 200, error: 'protocol' }], 'estimated'),
  },
  {
    name: 'garbage after a first word',
    answers: {
      buffered: text('{"choices":[{"message":{"content":"a"},]'),
      streamed: sse([{ data: CHUNK }, { raw: 'data: {"choices":[{]\n\n' }]),
    },
    fate: {
      buffered: failed('protocol', [{ status: 200, error: 'protocol' }], 'estimated'),
      streamed: broken('protocol', { status: 200, error: 'protocol' }),
    },
  },
  {
    name: 'an error told instead of an answer',
    answers: sse([{ data: { error: { message: 'no capacity' } } }]),
    fate: {
      buffered: failed('protocol', [{ status: 200, error: 'protocol' }], 'estimated'),
      streamed: failed('reported', [{ status: 200 }], 'estimated'),
    },
  },
  {
    name: 'an error told in the answer',
    answers: {
      buffered: json({ error: { message: 'no capacity' } }),
      streamed: sse([{ data: CHUNK }, { data: { error: { message: 'no capacity', type: 'server_error' } } }]),
    },
    fate: {
      buffered: failed('protocol', [{ status: 200, error: 'protocol' }], 'estimated'),
      streamed: broken('reported', { status: 200 }),
    },
  },
  {
    name: 'more than any answer',
    answers: {
      buffered: flood('application/json', '{"choices":[{"message":{"content":"'),
      streamed: flood('text/event-stream', 'data: {"choices":[{"delta":{"content":"'),
    },
    fate: failed('too_large', [{ status: 200, error: 'too_large' }], 'estimated'),
  },
];

/** The whole table: what goes wrong, and what becomes of the call. */
export const FAULTS: readonly Fault[] = [...PASSING, ...LASTING, ...COSTLY];
