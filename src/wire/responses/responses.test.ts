import { describe, expect, test } from 'vitest';
import { frameFacts } from '../../../test/harness/frame-facts.ts';
import { FrameRestorer } from '#/inspect/restore/restore-frames.ts';
import { restorationOf } from '../../../test/harness/restoration.ts';
import { TagTable } from '#/inspect/tags.ts';
import type { BadRequestShape } from '../hub/codec.ts';
import { readDocument, render } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { SseDecoder, writeEvent } from '../answer/sse.ts';
import { responsesCodec } from './codec.ts';
import { readUsage, usageOf, writeUsage } from './usage.ts';

const request = (body: object) => readDocument('responses', JSON.stringify({ model: 'p/m', input: 'x', ...body }));
const texts = (body: object) => responsesCodec.contents(request(body)).leaves.map(({ text }) => text);

describe('requests', () => {
  test.each([
    [{ model: 'ada@example.com and more' }, 'model'],
    [{ input: [] }, 'input'],
    [{ input: null }, 'input'],
    [{ input: 7 }, 'input'],
    [{ input: [{ content: 'x' }] }, 'input[0]'],
    [{ input: ['x'] }, 'input[0]'],
    [{ stream: 'yes' }, 'stream'],
    [{ background: true, stream: true }, 'background'],
    [{ background: 'yes' }, 'background'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ max_output_tokens: 1e18 }, 'max_output_tokens'],
    [{ text: 'x' }, 'text'],
    [{ Input: 'y' }, 'input'],
    [{ Background: true }, 'background'],
    [{ GW: {} }, 'gw'],
  ])('%j is refused, naming %s', (more, param) => {
    expect(() => responsesCodec.ask(request(more))).toThrow(
      expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape,
    );
  });

  test('are asked for what routing needs', () => {
    const asked = request({ stream: true, max_output_tokens: 9, text: { format: { type: 'json_object' } } });
    expect(responsesCodec.ask(asked)).toMatchObject({
      model: 'p/m',
      stream: true,
      includeUsage: true,
      maxOutputTokens: 9,
      answers: 1,
      jsonAnswer: true,
    });
    const plain = { input: null, prompt: { id: 'pmpt_1' }, text: { format: { type: 'text' } } };
    expect(responsesCodec.ask(request(plain))).toMatchObject({ stream: false, jsonAnswer: false });
    expect(responsesCodec.ask(request({ input: [{ role: 'user', content: 'x' }] })).maxOutputTokens).toBeUndefined();
  });

  test('are read in prompt order, without what pairs things and what is sealed', () => {
    const input = [
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: 'gAAAAABpPD-_+/==',
        summary: [{ type: 'summary_text', text: 's' }],
      },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{"to":"ada"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'o' },
    ];
    const body = { metadata: { id: '4111111111111111' }, input, instructions: 'i', tools: [{ name: 't' }] };
    const found = responsesCodec.contents(request(body));
    const values = found.leaves.map(({ text }) => text);
    expect(values).not.toContain('p/m');
    for (const id of ['rs_1', 'fc_1', 'call_1', 'gAAAAABpPD-_+/==']) expect(values).not.toContain(id);
    const order = ['t', 'i', 's', 'f', '{"to":"ada"}', 'o', '4111111111111111'].map((text) => values.indexOf(text));
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
    expect(found.leaves.filter(({ kind }) => kind === 'json').map(({ text }) => text)).toEqual(['{"to":"ada"}']);
  });

  test('what only looks like an id or a seal is text', () => {
    const text = 'ada@example.com lives here';
    expect(texts({ input: [{ type: 'function_call', call_id: text }] })).toContain(text);
    expect(texts({ input: [{ type: 'reasoning', encrypted_content: text }] })).toContain(text);
    expect(texts({ metadata: { encrypted_content: 'YWRh' } })).toContain('YWRh');
    expect(texts({ previous_response_id: 'resp_1' })).not.toContain('resp_1');
  });

  test.each([
    [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }, 'image', 'inline'],
    [{ type: 'input_image', image_url: 'https://x.test/a.png' }, 'image', 'remote'],
    [{ type: 'input_image', file_id: 'file-1' }, 'image', 'remote'],
    [{ type: 'input_file', filename: 'a.pdf', file_data: 'AAAA' }, 'file', 'inline'],
    [{ type: 'input_file', file_url: 'https://x.test/a.pdf' }, 'file', 'remote'],
    [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, 'audio', 'inline'],
    [{ type: 'input_hologram', url: 'data:model/x;base64,AAAA' }, 'file', 'inline'],
  ])('%j is media', (part, kind, source) => {
    for (const item of [
      { role: 'user', content: [part] },
      { type: 'function_call_output', call_id: 'c', output: [part] },
    ]) {
      const { leaves, media } = responsesCodec.contents(request({ input: [item] }));
      expect(media).toMatchObject([{ kind, source }]);
      if (source === 'inline') expect(leaves.some(({ text }) => text.includes('AAAA'))).toBe(false);
    }
  });

  test("a screenshot and a generated image are media, and a tool's schema is none", () => {
    const screenshot = {
      type: 'computer_call_output',
      call_id: 'c',
      output: { type: 'computer_screenshot', image_url: 'https://x.test/a' },
    };
    const image = { type: 'image_generation_call', id: 'ig_1', result: 'AAAA' };
    const schema = { properties: { content: { type: 'string', default: 'https://x.test' } } };
    const { media } = responsesCodec.contents(request({ input: [screenshot, image], tools: [{ parameters: schema }] }));
    expect(media).toMatchObject([
      { kind: 'image', source: 'remote' },
      { kind: 'image', source: 'inline' },
    ]);
  });
});

describe('searches', () => {
  test('are the items in which the vendor searched', () => {
    const call = (action?: JsonObject): JsonObject => ({
      type: 'web_search_call',
      status: 'completed',
      ...(action && { action }),
    });
    const output = [call({ type: 'search', query: 'a' }), call({ type: 'open_page' }), call(), { type: 'message' }];
    const usage = { input_tokens: 9, output_tokens: 1 };
    expect(usageOf({ output, usage })).toMatchObject({ input: 9, searches: 2 });
    expect(usageOf({ output: [output[1]!], usage })).not.toHaveProperty('searches');
    expect(usageOf({ output })).toBe(undefined);
  });
});

describe('usage', () => {
  test('is cut into buckets that share no token', () => {
    const told = {
      input_tokens: 100,
      output_tokens: 50,
      input_tokens_details: {
        cached_tokens: 60,
        cache_write_tokens: 10,
        cache_write_tokens_details: { ttl_30m_tokens: 6, ttl_12h_tokens: 4 },
      },
      output_tokens_details: { reasoning_tokens: 20 },
    };
    const usage = readUsage(told);
    expect(usage).toEqual({ input: 30, cacheRead: 60, cacheWrite5m: 6, cacheWrite1h: 4, output: 30, reasoning: 20 });
    expect(writeUsage(usage!)).toEqual({
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      output_tokens: 50,
      output_tokens_details: { reasoning_tokens: 20 },
      total_tokens: 150,
    });
    const answer = readDocument('responses', JSON.stringify({ usage: told, output: [] }));
    const shown = JSON.parse(render(answer.text, responsesCodec.hideCacheCounts(answer))) as { usage: object };
    expect(readUsage(shown.usage as never)).toEqual({
      ...usage,
      input: 100,
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
    });
    const frame = readDocument('responses', JSON.stringify({ response: { usage: told } }));
    expect(responsesCodec.hideCacheCounts(frame)).toHaveLength(4);
    const free = readDocument('responses', '{"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0}}}');
    expect(responsesCodec.hideCacheCounts(free)).toEqual([]);
  });

  test.each([undefined, null, {}, { input_tokens: 5 }])('%j is no account of anything', (usage) => {
    expect(readUsage(usage as never)).toBeUndefined();
  });

  test.each([
    { input_tokens: '5', output_tokens: 1 },
    { input_tokens: -1, output_tokens: 1 },
    { input_tokens: 1, output_tokens: 1.5 },
  ])('%j counts nothing that could be billed', (usage) => {
    expect(Object.values(readUsage(usage) ?? {}).some(Number.isNaN)).toBe(true);
  });

  test('details beyond the whole never make it more or less', () => {
    const usage = readUsage({
      input_tokens: 5,
      output_tokens: 1,
      input_tokens_details: {
        cached_tokens: 1e18,
        cache_write_tokens: 7,
        cache_write_tokens_details: { ttl_12h_tokens: 9 },
      },
      output_tokens_details: { reasoning_tokens: 9 },
    });
    expect(usage).toEqual({ input: 0, cacheRead: 5, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 1 });
  });
});

describe('answers', () => {
  test.each([
    [{ status: 'completed', output: [] }, true],
    [{ output: [] }, true],
    [{ status: 'incomplete', output: [] }, true],
    [{ status: 'failed', output: [] }, false],
    [{ status: 'queued', output: [] }, false],
    [{ status: 'completed' }, false],
  ])('%j is one: %s', (body, complete) => {
    expect(responsesCodec.readAnswer(body as never).complete).toBe(complete);
  });

  test('what is JSON in them', () => {
    const output = [
      {
        type: 'message',
        content: [
          { type: 'output_text', text: '{}' },
          { type: 'refusal', refusal: 'no' },
        ],
      },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
      { type: 'function_call', name: 'f', arguments: '{"a":1}' },
    ];
    const answer = readDocument('responses', JSON.stringify({ output }));
    const json = (jsonAnswer: boolean) =>
      responsesCodec.answerLeaves(answer, jsonAnswer).flatMap(({ kind, text }) => (kind === 'json' ? [text] : []));
    expect(json(false)).toEqual(['{"a":1}']);
    expect(json(true)).toEqual(['{}', '{"a":1}']);
  });
});

describe('streams', () => {
  const tags = new TagTable();
  const ORIGINAL = '"Ada"\n';
  const tag = tags.tagFor(ORIGINAL, 'PERSON', 0);

  /** The stream that says `text` in an answer and in a call, cut into pieces at `cut`. */
  function stream(text: string, cut: number): object[] {
    const args = JSON.stringify({ to: text });
    const pieces = (whole: string) => [whole.slice(0, cut), whole.slice(cut)];
    const message = {
      type: 'message',
      id: 'm',
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [] }],
    };
    const call = { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: args };
    const at = { item_id: 'm', output_index: 0, content_index: 0 };
    const said = [
      { type: 'response.created', response: { id: 'r', instructions: text } },
      { type: 'response.output_item.added', output_index: 0, item: { ...message, content: [] } },
      ...pieces(text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
      { type: 'response.output_text.done', ...at, text },
      { type: 'response.content_part.done', ...at, part: message.content[0] },
      { type: 'response.output_item.done', output_index: 0, item: message },
      ...pieces(args).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        item_id: 'fc',
        output_index: 1,
        delta,
      })),
      { type: 'response.function_call_arguments.done', item_id: 'fc', output_index: 1, arguments: args },
      { type: 'response.output_item.done', output_index: 1, item: call },
      { type: 'response.completed', response: { id: 'r', status: 'completed', output: [message, call] } },
    ];
    return said.map((event, index) => ({ sequence_number: index, ...event }));
  }

  function restore(events: readonly object[]): {
    text: string;
    frames: { event: string | undefined; body: Record<string, unknown> }[];
  } {
    const decode = (text: string) => new SseDecoder(2 ** 20).push(Buffer.from(text));
    const reader = responsesCodec.streamReader();
    const restorer = new FrameRestorer(responsesCodec, restorationOf(tags), false);
    let text = '';
    for (const body of events) {
      const written = writeEvent(JSON.stringify(body), (body as { type: string }).type);
      for (const event of decode(written)) text += restorer.restore(event, reader.read(event));
    }
    text += restorer.end();
    const frames = decode(text).map(({ event, data }) => ({
      event,
      body: JSON.parse(data!) as Record<string, unknown>,
    }));
    return { text, frames };
  }

  test('tags are restored in what comes in pieces and in all that repeats it', () => {
    const text = `To ${tag}!`;
    const original = `To ${ORIGINAL}!`;
    const expected = JSON.stringify(stream(original, original.length).map(({ ...body }) => body));
    for (let cut = 0; cut <= JSON.stringify({ to: text }).length; cut++) {
      const { text: sent, frames } = restore(stream(text, cut));
      expect(sent, `cut at ${cut}`).not.toContain('PERSON');
      for (const { event, body } of frames) expect(event).toBe(body['type']);
      const saidBy = (type: string) =>
        frames.flatMap(({ body }) => (body['type'] === type ? [body['delta']] : [])).join('');
      expect(saidBy('response.output_text.delta')).toBe(original);
      expect(saidBy('response.function_call_arguments.delta')).toBe(JSON.stringify({ to: original }));
      const whole = (list: readonly object[]) => list.filter((body) => !('delta' in body));
      expect(whole(frames.map(({ body }) => body))).toEqual(whole(JSON.parse(expected) as object[]));
    }
  });

  test('half a tag comes before the event that ends its text, and as that text', () => {
    const half = tag.slice(0, 4);
    const at = { item_id: 'm', output_index: 3, content_index: 1 };
    for (const end of [
      { type: 'response.output_text.done', ...at, text: `a${half}` },
      { type: 'response.output_item.done', output_index: 3, item: { id: 'm', type: 'message' } },
      { type: 'response.completed', response: { output: [] } },
    ]) {
      const { frames } = restore([
        { type: 'response.output_text.delta', sequence_number: 1, ...at, delta: `a${half}` },
        {
          type: 'response.output_text.delta',
          sequence_number: 2,
          item_id: 'n',
          output_index: 30,
          content_index: 1,
          delta: 'b',
        },
        { sequence_number: 3, ...end },
      ]);
      expect(frames.map(({ body }) => body['type'])).toEqual([
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        end.type,
      ]);
      const { item_id: item, ...late } = { item_id: undefined, ...frames[2]!.body };
      expect(late).toEqual({
        type: 'response.output_text.delta',
        sequence_number: 3,
        output_index: 3,
        content_index: 1,
        delta: half,
        logprobs: [],
      });
      expect(item).toBe(end.type === 'response.completed' ? undefined : 'm');
    }
  });

  test.each([
    [
      { type: 'error', message: 'no', code: 'x' },
      { kind: 'error', error: 'no' },
    ],
    [
      { type: 'error', error: { message: 'no' } },
      { kind: 'error', error: 'no' },
    ],
    [{ error: { message: 'no' } }, { kind: 'error', error: 'no' }],
    [
      { type: 'response.failed', response: { error: { message: 'no' } } },
      { kind: 'error', error: 'no' },
    ],
    [{ type: 'response.mcp_call.failed', error: 'x' }, { kind: 'content' }],
    [
      { type: 'response.output_text.delta', delta: 'é' },
      { kind: 'content', outputBytes: 2 },
    ],
    [
      { type: 'response.audio.delta', delta: 'AAAA' },
      { kind: 'content', outputBytes: 0 },
    ],
    [
      { type: 'response.output_text.done', text: 'é' },
      { kind: 'content', outputBytes: 0 },
    ],
    [
      { type: 'response.incomplete', response: { id: 'r', usage: { input_tokens: 3, output_tokens: 1 } } },
      { kind: 'done', id: 'r', usage: { input: 3, output: 1 } },
    ],
  ])('%j', (body, facts) => {
    const reader = responsesCodec.streamReader();
    const read = frameFacts(responsesCodec, reader, { event: undefined, data: JSON.stringify(body), raw: '' });
    expect(read).toMatchObject(facts);
    expect(reader.finished).toBe(facts.kind === 'done');
  });

  test('a comment, an empty event and a mark of another family are nothing', () => {
    const reader = responsesCodec.streamReader();
    for (const data of [undefined, '', '[DONE]', '7']) {
      expect(reader.read({ event: undefined, data, raw: '' }).kind).toBe('other');
    }
    expect(() => reader.read({ event: undefined, data: '{', raw: '' })).toThrow(SyntaxError);
  });
});
