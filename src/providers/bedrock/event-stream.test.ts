import { EventStreamCodec } from '@smithy/core/event-streams';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { SseDecoder, type SseEvent } from '#/wire/answer/sse.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import { converseEvent, messagesEvent, ReframedAnswer, type Reframe } from './event-stream.ts';
import { FrameCutter } from './frames.ts';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

function frame(headers: Readonly<Record<string, string>>, payload: unknown): Uint8Array {
  const body = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload), 'utf8');
  const entries = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }] as const);
  return codec.encode({ headers: Object.fromEntries(entries), body });
}

function event(name: string, payload: unknown): Uint8Array {
  return frame({ ':message-type': 'event', ':event-type': name, ':content-type': 'application/json' }, payload);
}

function exception(name: string, payload: unknown): Uint8Array {
  return frame({ ':message-type': 'exception', ':exception-type': name }, payload);
}

/** An answer whose body comes in these pieces. */
function answer(pieces: Iterable<Uint8Array>): Incoming & { closed: boolean } {
  return {
    status: 200,
    closed: false,
    header: (name) => (name === 'x-amzn-requestid' ? 'r1' : undefined),
    text: () => Promise.reject(new Error('not read as text')),
    async *chunks() {
      yield* pieces;
    },
    close() {
      this.closed = true;
    },
  };
}

async function read(pieces: Iterable<Uint8Array>, reframe: Reframe): Promise<SseEvent[]> {
  const decoder = new SseDecoder(1024 * 1024);
  const events: SseEvent[] = [];
  for await (const chunk of new ReframedAnswer(answer(pieces), reframe).chunks()) {
    const whole = decoder.push(chunk);
    expect(whole.length).toBeGreaterThan(0);
    events.push(...whole);
  }
  expect(decoder.end()).toEqual([]);
  return events;
}

async function faultOf(promise: Promise<unknown>): Promise<UpstreamFault> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(UpstreamFault);
  return thrown as UpstreamFault;
}

const CONVERSE = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße 😀\n"x"' } }),
  event('messageStop', { stopReason: 'end_turn' }),
  event('metadata', { usage: { inputTokens: 1, outputTokens: 2 } }),
];

describe('converse', () => {
  it('names events and keeps their payloads', async () => {
    const events = await read(CONVERSE, converseEvent);
    expect(events.map(({ event: name, data }) => [name, JSON.parse(data ?? '') as unknown])).toEqual([
      ['messageStart', { role: 'assistant' }],
      ['contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße 😀\n"x"' } }],
      ['messageStop', { stopReason: 'end_turn' }],
      ['metadata', { usage: { inputTokens: 1, outputTokens: 2 } }],
    ]);
  });

  it('is the same wherever the bytes are cut', async () => {
    const bytes = Buffer.concat(CONVERSE);
    const whole = await read(CONVERSE, converseEvent);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await read([bytes.subarray(0, cut), bytes.subarray(cut)], converseEvent)).toEqual(whole);
    }
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    expect(await read(single, converseEvent)).toEqual(whole);
    expect(await read([bytes], converseEvent)).toEqual(whole);
  });

  it.each([
    [exception('throttlingException', { message: 'Too many' }), 'throttlingException', 'Too many'],
    [exception('validationException', { Message: 'Capital' }), 'validationException', 'Capital'],
    [exception('modelStreamErrorException', ''), 'modelStreamErrorException', 'the provider ended'],
    [frame({ ':message-type': 'error', ':error-code': 'E1', ':error-message': 'broken' }, ''), 'E1', 'broken'],
  ])('tells an exception as one', async (bytes, type, message) => {
    const [told] = await read([bytes], converseEvent);
    expect(told?.event).toBe('exception');
    const data = JSON.parse(told?.data ?? '') as { type: string; message: string };
    expect(data.type).toBe(type);
    expect(data.message).toContain(message);
  });
});

describe('messages', () => {
  const wrapped = (value: unknown): Uint8Array =>
    event('chunk', { bytes: Buffer.from(JSON.stringify(value), 'utf8').toString('base64'), p: 'abcdef' });

  it('unwraps the events of the family, byte for byte', async () => {
    const start = { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 3 } } };
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'ä😀\n' } };
    const events = await read([wrapped(start), wrapped(delta)], messagesEvent);
    expect(events.map(({ event: name, data }) => [name, data])).toEqual([
      ['message_start', JSON.stringify(start)],
      ['content_block_delta', JSON.stringify(delta)],
    ]);
  });

  it("leaves out the host's own counts", async () => {
    const metrics = { inputTokenCount: 10, cacheReadInputTokenCount: 5 };
    const events = await read(
      [wrapped({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': metrics })],
      messagesEvent,
    );
    expect(events.map(({ data }) => data)).toEqual(['{"type":"message_stop"}']);
  });

  it.each([
    ['throttlingException', 'rate_limit_error'],
    ['serviceUnavailableException', 'overloaded_error'],
    ['validationException', 'invalid_request_error'],
    ['modelTimeoutException', 'timeout_error'],
    ['internalServerException', 'api_error'],
    ['somethingNew', 'api_error'],
  ])('tells %s as an error of the family', async (name, type) => {
    const [told] = await read([exception(name, { message: 'm' })], messagesEvent);
    expect(told?.event).toBe('error');
    expect(JSON.parse(told?.data ?? '')).toEqual({ type: 'error', error: { type, message: 'm' } });
  });

  it('skips events without a payload of the family, and refuses what is no event', async () => {
    expect(await read([event('chunk', {})], messagesEvent)).toEqual([]);
    expect((await faultOf(read([event('chunk', 'no json')], messagesEvent))).kind).toBe('protocol');
    const list = event('chunk', { bytes: Buffer.from('[1]').toString('base64') });
    expect((await faultOf(read([list], messagesEvent))).kind).toBe('protocol');
  });
});

describe('damage', () => {
  const [first = new Uint8Array()] = CONVERSE;

  it('is seen at every byte of a frame', async () => {
    for (let at = 0; at < first.length; at++) {
      const bytes = Uint8Array.from(first);
      bytes[at] = bytes[at]! ^ 0x01;
      const fault = await faultOf(read([bytes], converseEvent));
      // A length that grew leaves the frame unfinished.
      expect(['protocol', 'reset']).toContain(fault.kind);
    }
  });

  it('a bad checksum is no event stream; an end inside a frame is a cut connection', async () => {
    const bytes = Uint8Array.from(first);
    bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 0xff;
    expect((await faultOf(read([bytes], converseEvent))).kind).toBe('protocol');
    for (const length of [1, 3, 4, 12, first.length - 1]) {
      expect((await faultOf(read([first.subarray(0, length)], converseEvent))).kind).toBe('reset');
    }
  });

  it.each([0, 15, 0x7fffffff, 0xffffffff])('a frame of %i bytes is refused before it is waited for', (length) => {
    const head = Buffer.alloc(8);
    head.writeUInt32BE(length);
    expect(() => new FrameCutter().push(head)).toThrow(UpstreamFault);
  });
});

it('keeps the head of the answer, closes its source and bounds its text', async () => {
  const source = answer(CONVERSE);
  const reframed = new ReframedAnswer(source, converseEvent);
  expect([reframed.status, reframed.header('x-amzn-requestid'), reframed.header('content-type')]).toEqual([
    200,
    'r1',
    'text/event-stream',
  ]);
  expect(await reframed.text(10_000)).toContain('event: metadata\ndata: {');
  expect((await faultOf(new ReframedAnswer(source, converseEvent).text(50))).kind).toBe('too_large');
  expect(source.closed).toBe(true);
});

const RECORDED = join(
  import.meta.dirname,
  '../../../../shared/recordings/amazon-bedrock/amazon-bedrock-text.chunks.txt',
);

it(
  'carries a recorded stream',
  skipUnless(existsSync(RECORDED), 'the recordings of provider answers are not here'),
  async () => {
    const lines = readFileSync(RECORDED, 'utf8').split('\n').filter(Boolean);
    const named = lines.map((line) => [Object.keys(JSON.parse(line) as object)[0] ?? '', line] as const);
    const events = await read(
      named.map(([name, line]) => event(name, line)),
      converseEvent,
    );
    expect(events.map(({ event: name, data }) => [name, data])).toEqual(named.map(([name, line]) => [name, line]));
  },
);
