import { describe, expect, test } from 'vitest';
import {
  NO_RECORDINGS,
  decodeAll,
  recordedBody,
  recordedStream,
  recordingsOf,
} from '../../../test/harness/recordings.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import type { Part, StreamEvent } from '../hub/canonical.ts';
import { collectAnswer } from '../hub/collect-answer.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { responsesCodec, responsesUpstream } from './codec.ts';

type Figures = readonly [
  input: number,
  cacheRead: number,
  output: number,
  reasoning: number,
  searches?: number,
  fileSearches?: number,
];

/** What the files themselves tell, a stream each (some files hold several), without what was read from a cache. */
const USAGE: Readonly<Record<string, readonly Figures[]>> = {
  'openai/responses/openai-apply-patch-tool.1.chunks.txt': [[642, 0, 67, 0]],
  'openai/responses/openai-apply-patch-tool.1.json': [[642, 0, 67, 0]],
  'openai/responses/openai-local-shell-tool.1.chunks.txt': [[407, 0, 23, 128]],
  'openai/responses/openai-local-shell-tool.1.json': [[407, 0, 24, 0]],
  'openai/responses/openai-mcp-tool-approval.1.chunks.txt': [[422, 0, 48, 0]],
  'openai/responses/openai-mcp-tool-approval.2.chunks.txt': [[553, 0, 115, 256]],
  'openai/responses/openai-mcp-tool-approval.3.chunks.txt': [[609, 0, 48, 0]],
  'openai/responses/openai-mcp-tool-approval.4.chunks.txt': [[779, 0, 69, 0]],
  'openai/responses/openai-mcp-tool-approval.4.json': [[765, 0, 74, 0]],
  'openai/responses/openai-reasoning-encrypted-content.1.chunks.txt': [
    [134, 0, 28, 0],
    [221, 0, 26, 0],
    [260, 0, 26, 0],
    [299, 0, 12, 0],
  ],
  'openai/responses/openai-reasoning-encrypted-content.1.json': [[865, 0, 35, 128]],
  'openai/responses/openai-shell-skills.1.chunks.txt': [[477, 1024, 214, 100]],
  'openai/responses/openai-shell-skills.1.json': [[475, 1024, 231, 100]],
  'openai/responses/openai-shell-tool.1.chunks.txt': [
    [145, 0, 41, 0],
    [331, 0, 166, 0],
  ],
  'openai/responses/programmatic-tool-calling.1.chunks.txt': [[631, 0, 50, 37]],
  'openai/responses/programmatic-tool-calling.1.json': [[631, 0, 84, 55]],
  'openai/responses/programmatic-tool-calling.2.chunks.txt': [[0, 0, 0, 0]],
  'openai/responses/programmatic-tool-calling.3.chunks.txt': [[757, 0, 35, 0]],
  'azure/azure-text.1.chunks.txt': [[11, 0, 11, 0]],
  'azure/azure-text.1.json': [[11, 0, 11, 0]],
  'azure/azure-web-search-preview-tool.1.chunks.txt': [[5093, 0, 369, 0, 1]],
  'azure/azure-web-search-preview-tool.1.json': [[10188, 0, 405, 0]],
  'azure/openai-file-search-tool.1.chunks.txt': [[1433, 2304, 109, 512, 0, 1]],
  'azure/openai-file-search-tool.2.chunks.txt': [[1444, 2304, 95, 448, 0, 1]],
  'azure/openai-file-search-tool.1.json': [[1140, 2560, 101, 640]],
  'xai/responses/xai-file-search-tool.1.json': [[500, 0, 150, 0]],
  'xai/responses/xai-image-generation-tool.1.chunks.txt': [[80, 20, 20, 30]],
  'xai/responses/xai-image-generation-tool.1.json': [[80, 20, 20, 30]],
  'xai/responses/xai-text-streaming.1.chunks.txt': [[24, 192, 626, 237]],
  'xai/responses/xai-text-with-reasoning-streaming-store-false.1.chunks.txt': [[24, 192, 578, 253]],
  'xai/responses/xai-text-with-reasoning-streaming.1.chunks.txt': [[24, 192, 600, 323]],
  'xai/responses/xai-web-search-tool.1.chunks.txt': [[297, 1578, 298, 397, 1]],
  'xai/responses/xai-web-search-tool.1.json': [[994, 947, 203, 380]],
};

const FOLDERS = ['openai/responses', 'azure', 'xai/responses'];
const named = (ending: string) =>
  FOLDERS.flatMap((folder) => recordingsOf(folder, ending).map((name) => [folder, name] as const)).filter(
    ([, name]) => !name.includes('openai-error'),
  );
const recorded = skipUnless(named('.json').length > 0, NO_RECORDINGS);

const usageOf = ([input, cacheRead, output, reasoning, searches = 0, fileSearches = 0]: Figures) => {
  const tokens = { input, cacheRead, cacheWrite5m: 0, cacheWrite1h: 0, output, reasoning };
  return { ...tokens, ...(searches > 0 && { searches }), ...(fileSearches > 0 && { fileSearches }) };
};
const troubles = (events: readonly StreamEvent[]) =>
  events.filter(({ type }) => type === 'warning' || type === 'error');
/** What is sealed is sealed anew each time it is told. */
const unsealed = (parts: readonly Part[] | undefined) =>
  parts?.map((part) =>
    part.type === 'reasoning' && part.proof ? { ...part, proof: 'sealed' } : part.type === 'opaque' ? part.name : part,
  );

/** The streams of a file: each begins with the creation of a response. */
function streamsOf(folder: string, name: string): readonly string[] {
  return recordedStream(folder, name)
    .split(/(?=data: \{[^\n]{0,40}"type":"response\.created")/)
    .filter((text) => text !== '');
}

/** Shorter streams come byte by byte, longer ones in small pieces, which cut everywhere too. */
const SHORT = 32_768;

describe('recordings', recorded, () => {
  test.each(named('.chunks.txt'))('%s/%s', (folder, name) => {
    const streams = streamsOf(folder, name);
    const usages: unknown[] = [];
    for (const text of streams) {
      const bytes = Buffer.from(text);
      const events = decodeAll(responsesUpstream.streamDecoder(), [bytes]);
      expect(troubles(events)).toEqual([]);
      expect(events.at(-1)).toEqual({ type: 'end' });
      const answer = collectAnswer(events);
      usages.push(answer.usage);
      const last = JSON.parse(text.trimEnd().split('\n').at(-1)!.slice('data: '.length)) as { response: JsonObject };
      const whole = responsesUpstream.decodeAnswer(last.response);
      expect({ ...answer, parts: unsealed(answer.parts) }).toEqual({ ...whole, parts: unsealed(whole?.parts) });
      const size = bytes.length < SHORT ? 1 : 7;
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_none, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(decodeAll(responsesUpstream.streamDecoder(), pieces)).toEqual(events);
    }
    const expected = USAGE[`${folder}/${name}`];
    expect(usages).toEqual(expected?.map(usageOf));
  });

  test.each(['azure-text.1.chunks.txt'])('%s reads the same wherever it is cut', (name) => {
    const bytes = Buffer.from(recordedStream('azure', name));
    const whole = decodeAll(responsesUpstream.streamDecoder(), [bytes]);
    expect(whole.length).toBeGreaterThan(5);
    for (let at = 1; at < bytes.length; at++) {
      const cut = decodeAll(responsesUpstream.streamDecoder(), [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(cut) !== JSON.stringify(whole)) expect(cut, `cut at ${at}`).toEqual(whole);
    }
  });

  test.each(named('.json').filter(([folder, name]) => `${folder}/${name}` in USAGE))('%s/%s', (folder, name) => {
    const body = recordedBody(folder, name);
    const answer = responsesUpstream.decodeAnswer(body);
    const [figures] = USAGE[`${folder}/${name}`] ?? [];
    expect(answer).toMatchObject({ id: body['id'], usage: usageOf(figures!) });
    const says = answer?.parts.some(({ type }) => ['text', 'refusal', 'tool-call'].includes(type));
    expect(responsesCodec.readAnswer(body)).toEqual({ id: body['id'], usage: answer?.usage, says, complete: true });
    const called = answer?.parts.some(({ type }) => type === 'tool-call') ?? false;
    expect(answer?.finish).toEqual({ reason: called ? 'tool-calls' : 'stop' });
  });

  test('every buffered answer has a part for each item that says anything', () => {
    const files = named('.json');
    expect(files.length).toBeGreaterThan(10);
    for (const [folder, name] of files) {
      const body = recordedBody(folder, name);
      const output = body['output'] as readonly JsonObject[];
      const silent = output.filter((item) => item['type'] === 'reasoning' && !item['encrypted_content']);
      expect(responsesUpstream.decodeAnswer(body)?.parts.length, name).toBe(output.length - silent.length);
    }
  });

  test('what the provider has sealed is kept byte for byte', () => {
    const body = recordedBody('openai/responses', 'openai-reasoning-encrypted-content.1.json');
    const [item] = body['output'] as readonly JsonObject[];
    const [reasoning] = responsesUpstream.decodeAnswer(body)?.parts ?? [];
    expect(reasoning).toMatchObject({
      type: 'reasoning',
      proof: { family: 'responses', value: item?.['encrypted_content'] },
    });
  });

  test('an error in a stream is told once, and what it holds of an answer before it', () => {
    const text = recordedStream('openai/responses', 'openai-error.1.chunks.txt');
    const events = decodeAll(responsesUpstream.streamDecoder(), [Buffer.from(text)]);
    expect(events).toEqual([
      { type: 'start', id: 'resp_05500b38c2cd9bfc00691c7c9d222481a3b595421266dab424' },
      {
        type: 'error',
        code: 'insufficient_quota',
        message: expect.stringContaining('You exceeded your current quota') as string,
      },
    ]);
    expect(responsesUpstream.decodeAnswer(recordedBody('openai/responses', 'openai-error.1.json'))).toBeUndefined();
  });
});

const read = (...bodies: readonly object[]): readonly StreamEvent[] =>
  decodeAll(responsesUpstream.streamDecoder(), [
    Buffer.from(bodies.map((body) => `data: ${JSON.stringify(body)}\n\n`).join('')),
  ]);
const created = { type: 'response.created', response: { id: 'r', output: [] } };
const completed = (more: object = {}) => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', output: [], ...more },
});
const message = (text: string) => ({ type: 'message', id: 'm', content: [{ type: 'output_text', text }] });
const delta = (text: string, at = 0, output = 0) => ({
  type: 'response.output_text.delta',
  output_index: output,
  content_index: at,
  delta: text,
});

describe('streams', () => {
  test('that tell an item only whole, or only at the very end', () => {
    const expected = { id: 'r', parts: [{ type: 'text', text: 'hi' }], finish: { reason: 'stop' } };
    const done = { type: 'response.output_item.done', output_index: 0, item: message('hi') };
    expect(collectAnswer(read(created, done, completed()))).toEqual(expected);
    expect(collectAnswer(read(created, done, completed({ output: [message('hi')] })))).toEqual(expected);
    expect(collectAnswer(read(completed({ output: [message('hi')] })))).toEqual(expected);
    expect(collectAnswer(read(created, delta('h'), completed({ output: [message('hi')] })))).toEqual(expected);
    const textDone = { type: 'response.output_text.done', output_index: 0, content_index: 0, text: 'hi' };
    expect(collectAnswer(read(created, textDone, done, completed({ output: [message('hi')] })))).toEqual(expected);
  });

  test('whose last event counts its output otherwise do not say it twice', () => {
    const done = { type: 'response.output_item.done', output_index: 1, item: message('hi') };
    expect(collectAnswer(read(created, delta('hi', 0, 1), done, completed({ output: [message('hi')] }))).parts).toEqual(
      [{ type: 'text', text: 'hi' }],
    );
  });

  test('two calls at once', () => {
    const call = (n: number, args: string) => ({
      type: 'function_call',
      call_id: `c${n}`,
      name: `f${n}`,
      arguments: args,
    });
    const args = (output: number, piece: string) => ({
      type: 'response.function_call_arguments.delta',
      output_index: output,
      delta: piece,
    });
    const events = read(
      created,
      { type: 'response.output_item.added', output_index: 0, item: call(0, '') },
      { type: 'response.output_item.added', output_index: 1, item: call(1, '') },
      args(0, '{"a"'),
      args(1, '{}'),
      args(0, ':1}'),
      { type: 'response.output_item.done', output_index: 0, item: call(0, '{"a":1}') },
      completed({ output: [call(0, '{"a":1}'), call(1, '{}')] }),
    );
    expect(troubles(events)).toEqual([]);
    expect(events.filter(({ type }) => type === 'part-end')).toEqual([
      { type: 'part-end', index: 0 },
      { type: 'part-end', index: 1 },
    ]);
    expect(collectAnswer(events)).toEqual({
      id: 'r',
      parts: [
        { type: 'tool-call', id: 'c0', name: 'f0', argumentsJson: '{"a":1}' },
        { type: 'tool-call', id: 'c1', name: 'f1', argumentsJson: '{}' },
      ],
      finish: { reason: 'tool-calls' },
    });
  });

  test('paragraphs of reasoning are one text, streamed or not', () => {
    const summary = (at: number, text: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index: at,
      delta: text,
    });
    const item = {
      type: 'reasoning',
      id: 'rs',
      summary: [
        { type: 'summary_text', text: 'one' },
        { type: 'summary_text', text: 'two' },
      ],
      encrypted_content: 'c2VhbGVk',
    };
    const part = { type: 'reasoning', text: 'one\n\ntwo', proof: { family: 'responses', value: 'c2VhbGVk' } };
    const done = { type: 'response.output_item.done', output_index: 0, item };
    const events = read(created, summary(0, 'on'), summary(0, 'e'), summary(1, 'two'), done, completed());
    expect(troubles(events)).toEqual([]);
    expect(collectAnswer(events).parts).toEqual([part]);
    expect(responsesUpstream.decodeAnswer({ output: [item] })?.parts).toEqual([part]);
    expect(collectAnswer(read(created, { ...done, item: { ...item, summary: [] } }, completed())).parts).toEqual([
      { ...part, text: '' },
    ]);
  });

  test('a refusal is told as one', () => {
    const events = read(
      created,
      { type: 'response.refusal.delta', output_index: 0, content_index: 0, delta: 'No' },
      { type: 'response.refusal.done', output_index: 0, content_index: 0, refusal: 'No.' },
      completed(),
    );
    expect(collectAnswer(events)).toEqual({
      id: 'r',
      parts: [{ type: 'refusal', text: 'No.' }],
      finish: { reason: 'refusal' },
    });
  });

  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'filter'],
    ['max_messages', 'length'],
    ['constructor', 'length'],
  ])('incomplete by %s', (reason, expected) => {
    const response = { status: 'incomplete', incomplete_details: { reason }, output: [] };
    expect(collectAnswer(read(created, { type: 'response.incomplete', response })).finish).toEqual({
      reason: expected,
    });
    expect(responsesUpstream.decodeAnswer(response)?.finish).toEqual({ reason: expected });
  });

  test('a failure without an error event, with what it cost', () => {
    const usage = { input_tokens: 3, output_tokens: 1 };
    const error = { code: 'server_error', message: 'm'.repeat(9999) };
    const reader = responsesUpstream.streamDecoder();
    const text = JSON.stringify({ type: 'response.failed', response: { status: 'failed', error, usage, output: [] } });
    expect(reader.decode({ event: undefined, data: text, raw: '' })).toEqual([
      { type: 'usage', usage: { input: 3, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 1, reasoning: 0 } },
      { type: 'error', message: 'm'.repeat(2000), code: 'server_error' },
    ]);
    expect(reader.finished).toBe(false);
    expect(responsesUpstream.decodeAnswer({ status: 'failed', error, output: [] })).toBeUndefined();
  });

  test('an end before the end closes what is open and is no end', () => {
    const reader = responsesUpstream.streamDecoder();
    const events = decodeAll(reader, [
      Buffer.from(`data: ${JSON.stringify(created)}\n\ndata: ${JSON.stringify(delta('h'))}\n\n`),
    ]);
    expect(events.at(-1)).toEqual({ type: 'part-end', index: 0 });
    expect(reader.finished).toBe(false);
  });

  test('facts about what nobody knows, and never its content', () => {
    const unknown = read(created, { type: 'response.telepathy.delta', delta: 'secret' }, { hello: 'secret' });
    expect(troubles(unknown)).toEqual([
      { type: 'warning', message: 'an event of response.telepathy.delta' },
      { type: 'warning', message: 'an event of no known type' },
    ]);
    const contradiction = read(created, delta('secret'), completed({ output: [message('other')] }));
    expect(troubles(contradiction)).toEqual([{ type: 'warning', message: 'a whole text differs from its pieces' }]);
    expect(() =>
      read(created).concat(decodeAll(responsesUpstream.streamDecoder(), [Buffer.from('data: {\n\n')])),
    ).toThrow(SyntaxError);
  });

  test.each([
    ['an item that is none', { type: 'response.output_item.added', output_index: 0, item: null }],
    [
      'content that is none',
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', content: 7 } },
    ],
    ['a text that is none', { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: null }],
    ['a place that is none', { type: 'response.content_part.done', output_index: 'x', content_index: {} }],
    ['a paragraph that is none', { type: 'reasoning', summary: [7, { text: 7 }], content: null }],
  ])('%s', (_name, body) => {
    const events = read(created, body, completed());
    expect(collectAnswer(events)).toMatchObject({ parts: [], finish: { reason: 'stop' } });
    expect(isObject(events.at(-1))).toBe(true);
  });
});
