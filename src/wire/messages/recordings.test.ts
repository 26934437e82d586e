import { describe, expect, test } from 'vitest';
import { frameFacts } from '../../../test/harness/frame-facts.ts';
import {
  NO_RECORDINGS,
  decodeAll,
  recordedBody,
  recordedStream,
  recordingsOf,
} from '../../../test/harness/recordings.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import { SseDecoder } from '../answer/sse.ts';
import type { Usage } from '../answer/usage.ts';
import { messagesCodec, messagesUpstream } from './codec.ts';

const PROVIDER = 'anthropic';
const END = '"message_stop"}\n\n';

/** Input, cache read, five-minute cache write, output and searches, as the files tell them last: of each stream in the file. */
const USAGE: Readonly<Record<string, readonly (readonly [number, number, number, number, number?])[]>> = {
  // 4727 + 2728 and 3391 + 3880: the advisor is beside the totals.
  'anthropic-advisor-20250301.1.chunks.txt': [[7455, 0, 0, 7271]],
  'anthropic-advisor-stop-reasons.chunks.txt': [[10, 0, 0, 20]],
  'anthropic-advisor-stop-reasons.json': [[10, 0, 0, 20]],
  'anthropic-code-execution-20250825.pptx-skill.chunks.txt': [[320_032, 0, 0, 5558]],
  'anthropic-code-execution-20250825.pptx-skill.json': [[950_648, 0, 0, 13_856]],
  'anthropic-code-execution-20260120-prompt-cache.1.chunks.txt': [[6, 6289, 3337, 198]],
  // 612 + 60385 and 2819 + 522, 682 + 60385 and 1320 + 592: so is making the conversation shorter.
  'anthropic-compaction.1.chunks.txt': [[60_997, 0, 0, 3341]],
  'anthropic-compaction.1.json': [[61_067, 0, 0, 1912]],
  // The model that stepped in is in the totals.
  'anthropic-fallback.chunks.txt': [[412, 0, 0, 264]],
  'anthropic-fallback.json': [[412, 0, 0, 264]],
  'anthropic-json-other-tool.1.chunks.txt': [[843, 0, 0, 28]],
  'anthropic-json-other-tool.1.json': [[843, 0, 0, 28]],
  'anthropic-json-output-format.1.chunks.txt': [[313, 0, 0, 305]],
  'anthropic-json-output-format.1.json': [[371, 0, 0, 629]],
  'anthropic-json-tool.1.chunks.txt': [[849, 0, 0, 47]],
  'anthropic-json-tool.1.json': [[1151, 0, 0, 87]],
  'anthropic-json-tool.2.chunks.txt': [[849, 0, 0, 47]],
  'anthropic-refusal.chunks.txt': [[18, 0, 0, 5]],
  'anthropic-refusal.json': [[18, 0, 0, 5]],
  'anthropic-text.chunks.txt': [[12, 0, 0, 30]],
  'anthropic-text.json': [[12, 0, 0, 29]],
  'anthropic-tool-search-deferred-regex.2.json': [[1520, 0, 0, 203]],
  'anthropic-tool-search-deferred-regex.chunks.txt': [
    [904, 0, 0, 175],
    [1519, 0, 0, 211],
    [1758, 0, 0, 118],
  ],
  'anthropic-tool-search-regex.1.chunks.txt': [
    [1681, 0, 0, 163],
    [1071, 0, 0, 67],
  ],
  'anthropic-tool-search-regex.1.json': [[1676, 0, 0, 184]],
  'anthropic-web-fetch-tool.1.chunks.txt': [[4230, 0, 0, 446]],
  'anthropic-web-fetch-tool.1.json': [[4234, 0, 0, 462]],
  'anthropic-web-fetch-tool.2.json': [[28_638, 0, 0, 365]],
  'anthropic-web-search-tool.1.chunks.txt': [[15_665, 0, 0, 795, 1]],
  'anthropic-web-search-tool.1.json': [[27_118, 0, 0, 600, 2]],
  'duplicate-message-start.chunks.txt': [[17, 0, 0, 227]],
};

function usageOf(name: string): readonly Usage[] {
  return (USAGE[name] ?? []).map(([input, cacheRead, cacheWrite5m, output, searches]) => {
    const tokens = { input, cacheRead, cacheWrite5m, cacheWrite1h: 0, output, reasoning: 0 };
    return { ...tokens, ...(searches !== undefined && { searches }) };
  });
}

/** Some files hold several answers, one after the other. */
function streamsOf(name: string): readonly Buffer[] {
  const text = recordedStream(PROVIDER, name);
  return text
    .split(END)
    .slice(0, -1)
    .map((stream) => Buffer.from(stream + END));
}

const read = (pieces: readonly Uint8Array[]): readonly StreamEvent[] =>
  decodeAll(messagesUpstream.streamDecoder(), pieces);
const oneByOne = (bytes: Buffer): readonly Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte));
const complaints = (events: readonly StreamEvent[]): readonly StreamEvent[] =>
  events.filter(({ type }) => type === 'warning' || type === 'error');

const streams = recordingsOf(PROVIDER, '.chunks.txt');
const bodies = recordingsOf(PROVIDER, '.json').filter((name) => !name.includes('skill-create'));
const recorded = skipUnless(streams.length > 0, NO_RECORDINGS);

const CONTEXT: AnswerContext = {
  callId: '01890a5d-ac96-774b-bcce-b302099a8057',
  model: 'm',
  createdAt: 0,
  request: readDocument('messages', '{}'),
  includeUsage: true,
  estimatedInput: 1,
};

describe('streams', recorded, () => {
  test.each(streams)('%s reads the same byte by byte', (name) => {
    const expected = usageOf(name);
    expect(expected.length).toBeGreaterThan(0);
    for (const [at, bytes] of streamsOf(name).entries()) {
      const whole = read([bytes]);
      expect(complaints(whole)).toEqual([]);
      expect(read(oneByOne(bytes))).toEqual(whole);
      expect(collectAnswer(whole).usage).toEqual(expected[at]);
      expect(whole.at(-1)).toEqual({ type: 'end' });
    }
    expect(streamsOf(name)).toHaveLength(expected.length);
  });

  const short = streams.filter((name) => streamsOf(name).every((bytes) => bytes.length < 2000));
  test.each(short)('%s reads the same wherever it is cut', (name) => {
    for (const bytes of streamsOf(name)) {
      const whole = read([bytes]);
      for (let at = 1; at < bytes.length; at++) {
        expect(read([bytes.subarray(0, at), bytes.subarray(at)]), `cut at ${at}`).toEqual(whole);
      }
    }
  });

  test.each(streams)('%s is metered alike when it passes as it came', (name) => {
    for (const [at, bytes] of streamsOf(name).entries()) {
      const reader = messagesCodec.streamReader();
      const facts = new SseDecoder(2 ** 24).push(bytes).map((event) => frameFacts(messagesCodec, reader, event));
      expect(facts.findLast(({ usage }) => usage)?.usage).toEqual(usageOf(name)[at]);
      expect(facts.at(-1)?.kind).toBe('done');
      expect(facts.find(({ id }) => id)?.id).toMatch(/^msg_/);
      expect(reader.finished).toBe(true);
      const grown = read([bytes]).map((event) => (event.type === 'part-delta' ? Buffer.byteLength(event.text) : 0));
      const seen = facts.reduce((sum, { outputBytes }) => sum + outputBytes, 0);
      expect(seen).toBeGreaterThanOrEqual(grown.reduce<number>((sum, length) => sum + length, 0));
    }
  });

  test.each(streams)('%s says the same when it is written anew', (name) => {
    for (const bytes of streamsOf(name)) {
      const events = read([bytes]);
      const encoder = messagesCodec.streamEncoder(CONTEXT);
      const again = read([Buffer.from(events.map((event) => encoder.encode(event)).join(''))]);
      expect(complaints(again)).toEqual([]);
      const { parts, finish, usage } = collectAnswer(events);
      const isSilent = (part: Part): boolean => part.type === 'text' && part.text === '';
      expect(collectAnswer(again)).toMatchObject({ parts: parts.filter((part) => !isSilent(part)), finish, usage });
    }
  });
});

describe('answers', recorded, () => {
  test.each(bodies)('%s', (name) => {
    const body = recordedBody(PROVIDER, name);
    const [usage] = usageOf(name);
    expect(usage).toBeDefined();
    expect(messagesCodec.readAnswer(body)).toEqual({
      id: body['id'],
      usage,
      says: expect.any(Boolean) as boolean,
      complete: true,
    });
    const answer = messagesUpstream.decodeAnswer(body);
    if (!answer) throw new Error('no answer');
    expect(answer.usage).toEqual(usage);
    const written = messagesCodec.encodeAnswer(answer, CONTEXT);
    expect(messagesUpstream.decodeAnswer(written)).toEqual({ ...answer, id: 'msg_01890a5dac96774bbcceb302099a8057' });
    expect(written['stop_reason']).toBe(body['stop_reason']);
  });

  test('what is no message is no answer', () => {
    const body = recordedBody(PROVIDER, 'anthropic-skill-create.json');
    expect(messagesUpstream.decodeAnswer(body)).toBeUndefined();
    expect(messagesCodec.readAnswer(body).complete).toBe(false);
  });

  test('what server tools said is kept whole, in a stream as in one piece', () => {
    const opaque = (parts: readonly Part[]): readonly unknown[] =>
      parts.filter(({ type }) => type === 'opaque').map((part) => part.type === 'opaque' && part.value);
    const name = 'anthropic-advisor-stop-reasons';
    const [stream] = streamsOf(`${name}.chunks.txt`);
    const buffered = recordedBody(PROVIDER, `${name}.json`);
    expect(opaque(collectAnswer(read([stream ?? Buffer.of()])).parts)).toEqual(buffered['content']);
    const [search] = streamsOf('anthropic-tool-search-regex.1.chunks.txt');
    expect(opaque(collectAnswer(read([search ?? Buffer.of()])).parts)[0]).toMatchObject({
      type: 'server_tool_use',
      input: { pattern: 'weather|SF|San Francisco|forecast|temperature|climate', limit: 10 },
    });
    const [compaction] = streamsOf('anthropic-compaction.1.chunks.txt');
    expect(opaque(collectAnswer(read([compaction ?? Buffer.of()])).parts)).toMatchObject([
      { type: 'compaction', content: expect.stringMatching(/^## Summary/) as string },
    ]);
  });
});
