import exec from 'k6/execution';
import http, { type RefinedResponse } from 'k6/http';
import { Counter, Rate, Trend } from 'k6/metrics';
import { GATEWAYS, KEYS, MODEL, TIMEOUT } from './settings.ts';

/** Share of calls that were not answered in full, of all that were sent. */
const errors: Rate = new Rate('gw_errors');
/** Calls that were sent. A call is sent once: k6 does not repeat it, whatever becomes of it. */
const sent: Counter = new Counter('gw_calls');
/** Milliseconds until the first byte of the answer, of calls that were answered in full. */
const firstByte: Trend = new Trend('gw_first_byte', true);
/** Share of failures that were not told as the interface says: no status, or no error where one belongs. */
const untold: Rate = new Rate('gw_untold');

/** A door of the gateway, and how to see that an answer from it is whole. */
interface Door {
  readonly path: string;
  readonly headers: (key: string) => Record<string, string>;
  readonly whole: (body: string) => boolean;
  readonly wholeStream: (body: string) => boolean;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const CHAT: Door = {
  path: '/v1/chat/completions',
  headers: (key) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` }),
  whole: (body) => body.includes('"choices"'),
  wholeStream: (body) => body.includes('"finish_reason":"') && body.trimEnd().endsWith('data: [DONE]'),
};

export const MESSAGES: Door = {
  path: '/v1/messages',
  headers: (key) => ({ ...JSON_TYPE, 'x-api-key': key }),
  whole: (body) => body.includes('"stop_reason"'),
  wholeStream: (body) => body.includes('event: message_stop'),
};

/** A call to be made. */
export interface Ask {
  readonly door: Door;
  /** Which of the clients asks: an index of `KEYS`. */
  readonly client: number;
  readonly stream?: boolean;
  /** Default: the gateway whose turn it is. */
  readonly gateway?: string;
  /** Whether an answer that is not whole ended as it was meant to, by what came of it. */
  readonly excused?: (body: string) => boolean;
  /** Labels of the call in the metrics, asked for when it is over. */
  readonly tags?: () => Readonly<Record<string, string>>;
}

/** The gateways take turns within a scenario. */
function nextGateway(): string {
  return GATEWAYS[exec.scenario.iterationInTest % GATEWAYS.length] ?? '';
}

/** Sends one call and counts what became of it; whether the whole answer came. */
export function ask({ door, client, stream = false, gateway = nextGateway(), excused, tags }: Ask): boolean {
  const key = KEYS[client % KEYS.length] ?? '';
  const content = `Client ${client} asks for the ${exec.scenario.iterationInTest}. time.`;
  const body = { model: MODEL, max_tokens: 64, messages: [{ role: 'user', content }], ...(stream && { stream }) };
  const response = http.post(gateway + door.path, JSON.stringify(body), {
    headers: door.headers(key),
    timeout: `${TIMEOUT}s`,
    responseType: 'text',
  });
  const answer = response.body ?? '';
  const whole = response.status === 200 && (stream ? door.wholeStream(answer) : door.whole(answer));
  const labels = { ...tags?.(), client: String(client), door: door.path };
  sent.add(1, labels);
  errors.add(!whole && !excused?.(answer), labels);
  untold.add(!whole && !isTold(response), labels);
  if (whole) firstByte.add(response.timings.waiting, labels);
  return whole;
}

/** Whether a failure came as one: an error of the interface, with its status or, in a stream, as an event. */
function isTold({ status, body }: RefinedResponse<'text'>): boolean {
  return status !== 0 && (body ?? '').includes('"error"');
}
