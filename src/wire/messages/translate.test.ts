import type Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OnTheWire } from '../../../test/harness/wire-type.ts';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import type { BadRequestShape } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { UNKNOWN_MODEL, type Traits } from '../hub/traits.ts';
import { stringOf } from './decode-answer.ts';
import { messagesCodec, messagesUpstream } from './codec.ts';

/** The version of today has no sampling any more; models of before take it. */
type Body = OnTheWire<Anthropic.MessageCreateParams> & { readonly temperature?: number; readonly top_k?: number };

const CLAUDE: Traits = {
  ...UNKNOWN_MODEL,
  audio: false,
  documents: true,
  maxTemperature: 1,
  cacheMarks: 'hour',
  claude: true,
  reasoning: {
    control: 'adaptive',
    words: { minimal: 'low', low: 'low', medium: 'medium', high: 'high' },
    canDisable: true,
  },
};
const BUDGET: Traits = {
  ...CLAUDE,
  maxOutputTokens: 64_000,
  sampling: 'either',
  midSystem: false,
  reasoning: {
    control: 'budget',
    words: {},
    budget: { shares: { minimal: 0, low: 0.1, high: 0.6 }, least: 1024 },
    canDisable: true,
  },
};

const said = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const answered = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const text = (words: string): Part => ({ type: 'text', text: words });
const marked = (words: string, ttl?: string): Part => ({
  type: 'text',
  text: words,
  cache: ttl === undefined ? {} : { ttl },
});

const BASE: ModelRequest = {
  model: 'm',
  stream: false,
  system: [],
  turns: [said(text('hi'))],
  tools: [],
  stop: [],
};

function encode(
  request: Partial<ModelRequest>,
  traits: Traits = CLAUDE,
): { body: JsonObject; losses: readonly string[] } {
  const losses: string[] = [];
  const body = messagesUpstream.encodeRequest({ ...BASE, ...request }, traits, (what) => losses.push(what));
  return { body, losses: losses.toSorted() };
}

function decode(body: object): { request: ModelRequest; losses: readonly string[] } {
  const losses: string[] = [];
  const whole = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body };
  const document = readDocument('messages', JSON.stringify(whole));
  return { request: messagesCodec.decodeRequest(document, (what) => losses.push(what)), losses: losses.toSorted() };
}

const refused = (param: string): BadRequestShape =>
  expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape;

describe('a request read', () => {
  test('with all that crosses', () => {
    const { request, losses } = decode({
      model: 'anthropic/m',
      stream: true,
      system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        { role: 'system', content: 'be kind' },
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/PNG', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://e.org/a.jpg' } },
            { type: 'document', title: 'T', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' } },
            { type: 'search_result', title: 't', source: 's', content: [{ type: 'text', text: 'found' }] },
          ],
        },
        { role: 'system', content: 'now be rude' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'thinking', thinking: 'unsigned', signature: '' },
            { type: 'redacted_thinking', data: 'c2VhbGVk' },
            { type: 'text', text: '' },
            { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } },
          ],
        },
        { role: 'user', content: 'wait' },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', is_error: true, content: [{ type: 'text', text: 'no' }] },
          ],
        },
      ],
      tools: [{ name: 'f', description: 'd', input_schema: { type: 'object' }, cache_control: {} }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      temperature: 0.5,
      top_p: 0.9,
      top_k: 4,
      stop_sequences: ['END', ''],
      thinking: { type: 'enabled', budget_tokens: 5000 },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
    });
    expect(losses).toEqual([]);
    expect(request).toEqual({
      model: 'anthropic/m',
      stream: true,
      system: [
        { type: 'text', text: 'be brief', cache: { ttl: '1h' } },
        { type: 'text', text: 'be kind' },
      ],
      turns: [
        said(
          { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
          { type: 'media', kind: 'image', mediaType: 'image/jpeg', source: { url: 'https://e.org/a.jpg' } },
          { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'BBBB' }, name: 'T' },
          { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'w6k=' } },
          text('t\ns\nfound'),
        ),
        { role: 'system', parts: [text('now be rude')] },
        answered(
          { type: 'reasoning', text: 'hm', proof: { family: 'messages', value: 'c2ln' } },
          { type: 'reasoning', text: 'unsigned' },
          {
            type: 'opaque',
            family: 'messages',
            name: 'redacted_thinking',
            value: { type: 'redacted_thinking', data: 'c2VhbGVk' },
          },
          { type: 'tool-call', id: 't1', name: 'f', argumentsJson: '{"a":1}' },
        ),
        said({ type: 'tool-result', id: 't1', name: 'f', parts: [text('no')], isError: true }, text('wait')),
      ],
      tools: [{ name: 'f', description: 'd', parameters: { type: 'object' }, cache: {} }],
      toolChoice: { type: 'required' },
      parallelTools: false,
      maxOutputTokens: 9,
      temperature: 0.5,
      topP: 0.9,
      topK: 4,
      stop: ['END'],
      format: { type: 'json-schema', name: 'output', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'low', budget: 5000 },
      user: 'u',
      serviceTier: 'default',
    });
  });

  test('what does not cross is named', () => {
    const { request, losses } = decode({
      cache_control: { type: 'ephemeral' },
      betas: ['x'],
      container: 'c',
      speed: null,
      diagnostics: false,
      context_management: { edits: [] },
      thinking: { type: 'between_tools' },
      output_config: { effort: 'high', task_budget: 5, format: { type: 'xml' } },
      metadata: { user_id: 'u', other: 1 },
      tools: [
        { type: 'web_search_20260318', name: 'web_search' },
        { type: 'custom', name: 'f', input_examples: [{}], defer_loading: false },
      ],
      tool_choice: { type: 'auto' },
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', citations: [{}] },
            {
              type: 'document',
              title: 'T',
              context: 'c',
              citations: { enabled: true },
              source: { type: 'content', content: 'in a block' },
            },
          ],
        },
        { role: 'system', content: [{ type: 'tool_addition', tools: [] }], output_config: {} },
      ],
    });
    expect(losses).toEqual([
      'betas',
      'cache_control',
      'citations',
      'container',
      'context_management',
      'document.citations',
      'document.context',
      'document.title',
      'messages[].output_config',
      'metadata.other',
      'output_config.format',
      'output_config.task_budget',
      'system[tool_addition]',
      'thinking',
      'tools.input_examples',
      'tools[web_search_20260318]',
    ]);
    expect(request.turns).toEqual([said(text('a'), text('in a block'))]);
    expect(request.reasoning).toEqual({ effort: 'high' });
    expect(request.tools).toEqual([{ name: 'f' }]);
  });

  test.each([
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }],
    [{ thinking: { type: 'adaptive' } }, undefined],
    [{ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } }, { effort: 'max' }],
    [{ thinking: { type: 'enabled', budget_tokens: 1999 } }, { effort: 'minimal', budget: 1999 }],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { effort: 'low', budget: 2000 }],
    [{ thinking: { type: 'enabled', budget_tokens: 8000 } }, { effort: 'medium', budget: 8000 }],
    [{ thinking: { type: 'enabled', budget_tokens: 24_000 } }, { effort: 'high', budget: 24_000 }],
    [
      { thinking: { type: 'enabled', budget_tokens: 2000 }, output_config: { effort: 'high' } },
      { effort: 'high', budget: 2000 },
    ],
  ])('%j', (body, expected) => {
    expect(decode(body).request.reasoning).toEqual(expected);
  });

  test('instructions alone are what is asked', () => {
    const { request } = decode({ messages: [{ role: 'system', content: 'do' }] });
    expect(request).toMatchObject({ system: [], turns: [said(text('do'))] });
  });

  test.each([
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user', content: '' }] }, 'messages'],
    [{ messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0]'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
    [{ messages: [{ role: 'user', content: [{ type: 'image' }] }] }, 'messages[0].content[0].source'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'file:///etc' } }] }] },
      'messages[0].content[0].source.url',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'disk' } }] }] },
      'messages[0].content[0].source.type',
    ],
    [{ system: 7 }, 'system'],
    [{ tools: [7] }, 'tools[0]'],
    [{ tools: [{ description: 'd' }] }, 'tools[0].name'],
    [{ tool_choice: { type: 'tool', name: 'web_search' } }, 'tool_choice.name'],
    [{ tool_choice: { type: 'magic' } }, 'tool_choice'],
    [{ stop_sequences: [7] }, 'stop_sequences'],
    [{ output_config: { effort: 'huge' } }, 'output_config.effort'],
    [{ thinking: { type: 'enabled', budget_tokens: 'x' } }, 'budget_tokens'],
  ])('%j is refused, naming %s', (body, param) => {
    expect(() => decode(body)).toThrow(refused(param));
  });
});

describe('a request written', () => {
  test('with all that the family has, as the vendor types it', () => {
    const { body, losses } = encode({
      stream: true,
      system: [
        { type: 'text', text: 'be brief', cache: { ttl: '1h' } },
        { type: 'text', text: ' ' },
      ],
      turns: [
        said(
          { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
          { type: 'media', kind: 'image', mediaType: 'image/*', source: { url: 'https://e.org/a' } },
          { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'BBBB' }, name: 'T' },
          { type: 'media', kind: 'document', mediaType: 'text/csv', source: { data: 'w6k=' } },
          text('\n'),
        ),
        { role: 'system', parts: [text('now be rude')] },
        answered(
          { type: 'reasoning', text: 'hm', proof: { family: 'messages', value: 'c2ln' } },
          { type: 'refusal', text: 'no' },
          { type: 'tool-call', id: 't1', name: 'f', argumentsJson: '{"a":1}', cache: {} },
        ),
        said(text('well?'), { type: 'tool-result', id: 't1', parts: [text('bad'), text('')], isError: true }),
      ],
      tools: [{ name: 'f', description: 'd', parameters: { properties: {} }, strict: true }, { name: 'g' }],
      toolChoice: { type: 'tool', name: 'f' },
      parallelTools: false,
      maxOutputTokens: 100,
      temperature: 1.5,
      topK: 4,
      stop: ['END'],
      format: { type: 'json-schema', name: 'n', schema: { type: 'object', properties: {} } },
      user: 'u',
      serviceTier: 'default',
    });
    const expected = {
      model: 'm',
      max_tokens: 100,
      stream: true,
      system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
            { type: 'image', source: { type: 'url', url: 'https://e.org/a' } },
            { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' }, title: 'T' },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'é' } },
          ],
        },
        { role: 'system', content: [{ type: 'text', text: 'now be rude' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'text', text: 'no' },
            { type: 'tool_use', id: 't1', name: 'f', input: { a: 1 }, cache_control: { type: 'ephemeral' } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: 'bad' }], is_error: true },
            { type: 'text', text: 'well?' },
          ],
        },
      ],
      tools: [
        { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} }, strict: true },
        { name: 'g', input_schema: { type: 'object' } },
      ],
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      temperature: 1,
      top_k: 4,
      stop_sequences: ['END'],
      output_config: {
        format: { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } },
      },
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
    } satisfies Body;
    expect(body).toEqual(expected);
    expect(losses).toEqual(['temperature']);
  });

  test('what has no place is named', () => {
    const { body, losses } = encode({
      turns: [
        said(text('a')),
        answered(
          { type: 'reasoning', text: 'hm', proof: { family: 'gemini', value: 'x' } },
          { type: 'reasoning', text: 'hm' },
          { type: 'opaque', family: 'gemini', name: 'executableCode', value: {} },
          { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
        ),
        said(text('b')),
      ],
      seed: 1,
      presencePenalty: 1,
      frequencyPenalty: 1,
      promptCacheKey: 'k',
      serviceTier: 'flex',
      user: 'u'.repeat(300),
      stop: [' ', 'END'],
    });
    expect(losses).toEqual([
      'content[executableCode]',
      'content[image]',
      'frequency_penalty',
      'presence_penalty',
      'prompt_cache_key',
      'seed',
      'service_tier',
      'stop',
      'thinking',
      'thinking',
      'user',
    ]);
    expect(body).toEqual({
      model: 'm',
      max_tokens: 16_384,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
      stop_sequences: ['END'],
    });
  });

  test.each([
    [{}, CLAUDE, 16_384],
    [{}, BUDGET, 64_000],
    [{ maxOutputTokens: 99_999 }, BUDGET, 64_000],
    [{ maxOutputTokens: 0 }, BUDGET, 0],
    [{ maxOutputTokens: 5 }, CLAUDE, 5],
  ])('a ceiling is always there: %j', (request, traits, expected) => {
    expect(encode(request, traits).body['max_tokens']).toBe(expected);
  });

  test.each([
    [
      { type: 'media', kind: 'audio', mediaType: 'audio/wav', source: { data: 'AAAA' } },
      CLAUDE,
      'This model does not take audio',
    ],
    [{ type: 'media', kind: 'document', mediaType: 'application/msword', source: { data: 'AAAA' } }, CLAUDE, 'msword'],
    [
      { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'AAAA' } },
      { ...CLAUDE, documents: false },
      'pdf',
    ],
    [
      { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
      { ...CLAUDE, vision: false },
      'images',
    ],
    [
      { type: 'media', kind: 'image', mediaType: 'image/png', source: { url: 'https://e.org/a' } },
      { ...CLAUDE, remoteMedia: false },
      'address',
    ],
  ] satisfies readonly [Part, Traits, string][])('%j cannot be dropped in silence', (part, traits, message) => {
    expect(() => encode({ turns: [said(part)] }, traits)).toThrow(message);
    const within: Part = { type: 'tool-result', id: 't', parts: [part], isError: false };
    expect(() => encode({ turns: [said(within)] }, traits)).toThrow(refused('messages'));
  });

  test('a text file is text where documents are not taken', () => {
    const file: Part = {
      type: 'media',
      kind: 'document',
      mediaType: 'text/plain',
      source: { data: 'w6k=' },
      name: 'n',
    };
    expect(encode({ turns: [said(file)] }, { ...CLAUDE, documents: false }).body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'n:\n\né' }] },
    ]);
  });

  test('ids that the family does not take are replaced alike in a call and its result', () => {
    const id = 'call.äöü/1';
    const { body } = encode({
      turns: [
        said(text('a')),
        answered({ type: 'tool-call', id, name: 'f', argumentsJson: 'not JSON' }),
        said({ type: 'tool-result', id, parts: [], isError: false }),
      ],
    });
    const [, call, result] = body['messages'] as unknown as readonly { content: readonly [JsonObject] }[];
    const written = call?.content[0]['id'];
    expect(written).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(call?.content[0]['input']).toEqual({});
    expect(result?.content[0]).toEqual({ type: 'tool_result', tool_use_id: written });
  });

  test('an assistant that speaks first or last', () => {
    const turns = [answered(text('a')), said(text('b')), answered(text('{ '))];
    const roles = (traits: Traits, more: Partial<ModelRequest> = {}) => {
      const { body, losses } = encode({ turns, ...more }, traits);
      const messages = body['messages'] as unknown as readonly { role: string; content: readonly JsonObject[] }[];
      return { roles: messages.map(({ role }) => role), last: messages.at(-1)?.content, losses };
    };
    expect(roles(CLAUDE)).toEqual({
      roles: ['user', 'assistant', 'user', 'assistant'],
      last: [{ type: 'text', text: '{' }],
      losses: [],
    });
    const closed = {
      roles: ['user', 'assistant', 'user', 'assistant', 'user'],
      last: [{ type: 'text', text: 'Continue.' }],
      losses: ['prefill'],
    };
    expect(roles({ ...CLAUDE, prefill: false })).toEqual(closed);
    expect(roles(CLAUDE, { reasoning: { effort: 'high' } })).toEqual(closed);
  });

  test('instructions in the middle', () => {
    const turns: readonly Turn[] = [
      { role: 'system', parts: [text('s0')] },
      said(text('a')),
      { role: 'system', parts: [text('s1')] },
      answered(text('b')),
      { role: 'system', parts: [text('s2')] },
      said(text('c')),
    ];
    const shape = (traits: Traits): unknown =>
      (encode({ turns }, traits).body['messages'] as unknown as readonly { role: string; content: JsonObject[] }[]).map(
        ({ role, content }) => `${role}: ${content.map((block) => stringOf(block, 'text')).join(' ')}`,
      );
    expect(shape(CLAUDE)).toEqual(['user: s0 a', 'system: s1', 'assistant: b', 'user: s2 c']);
    expect(shape({ ...CLAUDE, midSystem: false })).toEqual(['user: s0 a s1', 'assistant: b', 'user: s2 c']);
  });

  test.each([
    [{ effort: 'high' }, CLAUDE, { type: 'adaptive', display: 'summarized' }, { effort: 'high' }, []],
    [{ effort: 'none' }, CLAUDE, { type: 'disabled' }, undefined, []],
    [{ effort: 'max' }, CLAUDE, undefined, undefined, ['reasoning_effort']],
    [
      { effort: 'none' },
      { ...CLAUDE, reasoning: { ...CLAUDE.reasoning, canDisable: false } },
      { type: 'adaptive', display: 'summarized' },
      { effort: 'low' },
      [],
    ],
    [{ effort: 'high' }, BUDGET, { type: 'enabled', budget_tokens: 38_400 }, undefined, []],
    [{ effort: 'low', budget: 2000 }, BUDGET, { type: 'enabled', budget_tokens: 2000 }, undefined, []],
    [{ effort: 'minimal' }, BUDGET, { type: 'enabled', budget_tokens: 1024 }, undefined, []],
    [{ effort: 'medium' }, BUDGET, undefined, undefined, ['reasoning_effort']],
    [{ effort: 'none' }, BUDGET, { type: 'disabled' }, undefined, []],
    [{ effort: 'high' }, UNKNOWN_MODEL, undefined, undefined, ['reasoning_effort']],
    [{ effort: 'none' }, UNKNOWN_MODEL, undefined, undefined, []],
    [
      { effort: 'high' },
      { ...CLAUDE, reasoning: { ...CLAUDE.reasoning, control: 'effort' } },
      undefined,
      { effort: 'high' },
      [],
    ],
  ] satisfies readonly [
    NonNullable<ModelRequest['reasoning']>,
    Traits,
    JsonObject | undefined,
    JsonObject | undefined,
    readonly string[],
  ][])('thinking: %j', (reasoning, traits, thinking, config, expected) => {
    const { body, losses } = encode({ reasoning }, traits);
    expect(body['thinking']).toEqual(thinking);
    expect(body['output_config']).toEqual(config);
    expect(losses).toEqual(expected);
  });

  test('a budget leaves something of the answer, or is not given', () => {
    const within = (maxOutputTokens: number) =>
      encode({ maxOutputTokens, reasoning: { effort: 'high', budget: 5000 } }, BUDGET);
    expect(within(2000).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 1999 });
    expect(within(1025).body['thinking']).toEqual({ type: 'enabled', budget_tokens: 1024 });
    expect(within(1024)).toMatchObject({ losses: ['reasoning_effort'] });
    expect(within(1024).body['thinking']).toBeUndefined();
  });

  test('a model that is given a budget is told the effort too where it knows the word', () => {
    const both = { ...BUDGET, reasoning: { ...BUDGET.reasoning, words: { high: 'high' } } };
    const { body } = encode({ reasoning: { effort: 'high' } }, both);
    expect(body['thinking']).toMatchObject({ type: 'enabled' });
    expect(body['output_config']).toEqual({ effort: 'high' });
  });

  test('a model with a budget thinks on behind a call only with the proof of what led to it', () => {
    const thoughts = (...first: Part[]): unknown => {
      const call: Part = { type: 'tool-call', id: 'c', name: 'f', argumentsJson: '{}' };
      const turns: Turn[] = [
        said(text('a')),
        answered(...first, call),
        said({ type: 'tool-result', id: 'c', parts: [text('r')], isError: false }),
      ];
      const request: Partial<ModelRequest> = { turns, tools: [{ name: 'f' }], reasoning: { effort: 'high' } };
      const { body, losses } = encode(request, BUDGET);
      expect(losses.includes('reasoning_effort')).toBe(body['thinking'] === undefined);
      expect(encode(request, CLAUDE).body['thinking']).toMatchObject({ type: 'adaptive' });
      return body['thinking'] !== undefined;
    };
    const proof = { family: 'messages', value: 'c2ln' } as const;
    expect(thoughts()).toBe(false);
    expect(thoughts({ type: 'reasoning', text: 'hm' })).toBe(false);
    expect(thoughts({ type: 'reasoning', text: 'hm', proof: { ...proof, family: 'gemini' } })).toBe(false);
    expect(thoughts({ type: 'reasoning', text: 'hm', proof })).toBe(true);
    const value = { type: 'redacted_thinking', data: 'c2VhbGVk' };
    expect(thoughts({ type: 'opaque', family: 'messages', name: 'redacted_thinking', value })).toBe(true);
  });

  test('what cannot be said of an image is named', () => {
    const image = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } } as const;
    const losses = (more: object) => encode({ turns: [said({ ...image, ...more })] }).losses;
    expect(losses({ detail: 'low' })).toEqual(['image_url.detail']);
    expect(losses({ name: 'a.png' })).toEqual(['file.filename']);
    expect(losses({ detail: 'auto' })).toEqual([]);
  });

  const choose = { tools: [{ name: 'f' }], toolChoice: { type: 'required' } } as const;
  test.each([
    [choose, CLAUDE, { type: 'any' }, []],
    [choose, { ...CLAUDE, forcedTools: false }, { type: 'auto' }, ['tool_choice']],
    [{ ...choose, reasoning: { effort: 'high' } }, BUDGET, { type: 'any' }, ['reasoning_effort']],
    [{ ...choose, reasoning: { effort: 'high' } }, CLAUDE, { type: 'any' }, ['reasoning_effort']],
    [{ ...choose, reasoning: { effort: 'none' } }, CLAUDE, { type: 'any' }, []],
    [
      { ...choose, reasoning: { effort: 'high' } },
      { ...CLAUDE, forcedTools: false },
      { type: 'auto' },
      ['tool_choice'],
    ],
    [{ tools: [{ name: 'f' }], toolChoice: { type: 'none' }, parallelTools: false }, CLAUDE, { type: 'none' }, []],
    [{ tools: [{ name: 'f' }], parallelTools: false }, CLAUDE, { type: 'auto', disable_parallel_tool_use: true }, []],
    [{ tools: [{ name: 'f' }] }, CLAUDE, undefined, []],
    [{ toolChoice: { type: 'auto' } }, CLAUDE, undefined, []],
    [choose, { ...CLAUDE, tools: false }, undefined, ['tools']],
  ] satisfies readonly [Partial<ModelRequest>, Traits, JsonObject | undefined, readonly string[]][])(
    'tool choice: %j',
    (request, traits, choice, expected) => {
      const { body, losses } = encode(request, traits);
      expect(body['tool_choice']).toEqual(choice);
      expect(losses).toEqual(expected);
    },
  );

  test.each([
    [{ temperature: 0.3, topP: 0.5 }, CLAUDE, { temperature: 0.3, top_p: 0.5 }, []],
    [{ temperature: 0.3, topP: 0.5 }, BUDGET, { temperature: 0.3 }, ['top_p']],
    [{ temperature: 0.3, topK: 5, reasoning: { effort: 'high' } }, BUDGET, {}, ['temperature', 'top_k']],
    [{ temperature: 0.3, reasoning: { effort: 'high' } }, CLAUDE, {}, ['temperature']],
    [{ temperature: 0.3 }, { ...CLAUDE, sampling: 'fixed' }, {}, ['temperature']],
  ] satisfies readonly [Partial<ModelRequest>, Traits, JsonObject, readonly string[]][])(
    'sampling: %j',
    (request, traits, expected, expectedLosses) => {
      const { body, losses } = encode(request, traits);
      const { temperature, top_p, top_k } = body;
      expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(expected);
      expect(losses).toEqual(expectedLosses);
    },
  );

  test('JSON is asked for in words where the model cannot be held to it', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const asked = (format: ModelRequest['format'] & object, traits: Traits) => {
      const { body, losses } = encode({ format }, traits);
      const [block] = (body['system'] ?? []) as unknown as readonly [{ text: string }?];
      return { words: block?.text, config: body['output_config'], losses };
    };
    expect(asked({ type: 'json' }, CLAUDE)).toMatchObject({
      words: expect.stringContaining('JSON') as string,
      losses: [],
    });
    const told = asked({ type: 'json-schema', name: 'n', schema }, { ...CLAUDE, json: 'tool' });
    expect(told).toMatchObject({ config: undefined, losses: ['response_format'] });
    expect(told.words).toContain(JSON.stringify(schema));
  });

  test('the objects of a schema are closed, but not its values', () => {
    const schema = {
      type: 'object',
      properties: {
        type: { type: 'object' },
        enum: { enum: [{ type: 'object' }] },
        open: { type: 'object', additionalProperties: true },
      },
      items: [{ anyOf: [{ type: 'object' }] }],
    };
    const { body } = encode({ format: { type: 'json-schema', name: 'n', schema } });
    expect(body['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            type: { type: 'object', additionalProperties: false },
            enum: { enum: [{ type: 'object' }] },
            open: { type: 'object', additionalProperties: true },
          },
          items: [{ anyOf: [{ type: 'object', additionalProperties: false }] }],
          additionalProperties: false,
        },
      },
    });
  });
});

describe('cache markers', () => {
  function marks(request: Partial<ModelRequest>, traits: Traits) {
    const { body, losses } = encode(request, traits);
    const found: string[] = [];
    const visit = (value: Json | undefined): void => {
      if (Array.isArray(value)) (value as readonly Json[]).forEach(visit);
      else if (isObject(value)) {
        const { cache_control: mark } = value;
        if (isObject(mark))
          found.push(`${stringOf(value, 'text') || stringOf(value, 'name')} ${stringOf(mark, 'ttl') || '-'}`);
        for (const member of Object.values(value)) visit(member);
      }
    };
    visit([body['tools'] ?? null, body['system'] ?? null, body['messages'] ?? null]);
    return { found, losses };
  }
  const many: Partial<ModelRequest> = {
    tools: [{ name: 'f', cache: {} }],
    system: [{ type: 'text', text: 's', cache: {} }],
    turns: [said(marked('a'), marked('b')), answered(marked('c')), said(marked('d'))],
  };

  test('at most four: tools, instructions and the end of the conversation', () => {
    expect(marks(many, CLAUDE)).toEqual({ found: ['f -', 's -', 'c -', 'd -'], losses: ['cache_control'] });
  });

  test('none where the model honours none', () => {
    expect(marks(many, { ...CLAUDE, cacheMarks: 'none' })).toEqual({ found: [], losses: ['cache_control'] });
  });

  test('an hour only where it is known, and never behind five minutes', () => {
    const turns = [said(marked('a', '1h'), marked('b', '5m'), marked('c', '1h'))];
    expect(marks({ turns }, CLAUDE)).toEqual({ found: ['a 1h', 'b 5m', 'c -'], losses: ['cache_control.ttl'] });
    const short = marks({ turns }, { ...CLAUDE, cacheMarks: 'five-minutes' });
    expect(short.found).toEqual(['a -', 'b 5m', 'c -']);
    expect(new Set(short.losses)).toEqual(new Set(['cache_control.ttl']));
  });

  test('those within a result are said of the result', () => {
    const result: Part = { type: 'tool-result', id: 't', parts: [marked('in', '1h')], isError: false };
    const { body } = encode({ turns: [said(result)] });
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: [{ type: 'text', text: 'in' }],
            cache_control: { type: 'ephemeral', ttl: '1h' },
          },
        ],
      },
    ]);
  });
});

const words = fc.string({ minLength: 1, maxLength: 8 }).map((some) => `${some}.`);
const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,20}$/);
const cache = fc.constantFrom({}, { cache: {} });
const media = fc.constantFrom<Part>(
  { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } },
  { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'BBBB' }, name: 'n' },
  { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'w6k=' } },
);
const plain = words.map(text);
const userPart = fc.oneof(
  fc.tuple(plain, cache).map(([part, mark]) => ({ ...part, ...mark })),
  media,
);
const assistantPart = fc.oneof(
  plain,
  fc.record({ text: fc.string(), value: words }).map(({ text: thought, value }): Part => {
    return { type: 'reasoning', text: thought, proof: { family: 'messages', value } };
  }),
  fc.record({ id, name: id }).map((call): Part => ({ type: 'tool-call', ...call, argumentsJson: '{"a":[1]}' })),
);
const result = fc
  .record({
    id: id.map((some) => `r_${some}`),
    parts: fc.array(fc.oneof(plain, media), { maxLength: 2 }),
    isError: fc.boolean(),
  })
  .map((some): Part => ({ type: 'tool-result', ...some }));
const userTurn = fc
  .tuple(fc.array(result, { maxLength: 2 }), fc.array(userPart, { minLength: 1, maxLength: 3 }))
  .map(([results, parts]) => said(...results, ...parts));
const assistantTurn = fc.array(assistantPart, { minLength: 1, maxLength: 3 }).map((parts) => answered(...parts));
const turns = fc
  .tuple(fc.array(fc.tuple(userTurn, assistantTurn), { maxLength: 3 }), userTurn)
  .map(([pairs, last]) => [...pairs.flat(), last]);

test('any conversation that the family can express is read as it was written', () => {
  fc.assert(
    fc.property(turns, fc.array(words, { maxLength: 2 }), fc.boolean(), (conversation, system, stream) => {
      const limited = { n: 0 };
      const few = conversation.map((turn) => ({
        ...turn,
        parts: turn.parts.map((part) => {
          if (!('cache' in part) || ++limited.n <= 4) return part;
          const { cache: _mark, ...rest } = part;
          return rest;
        }),
      }));
      const request: ModelRequest = {
        ...BASE,
        stream,
        system: system.map((some) => ({ type: 'text', text: some })),
        turns: few,
        tools: [{ name: 'f', description: 'd', parameters: { type: 'object' } }],
        toolChoice: { type: 'tool', name: 'f' },
        parallelTools: false,
        maxOutputTokens: 10,
        topP: 0.5,
        stop: ['END'],
        user: 'u',
        serviceTier: 'default',
      };
      const { body, losses } = encode(request);
      expect(losses).toEqual([]);
      const names = new Map<string, string>();
      const named = (part: Part): Part => {
        if (part.type === 'tool-call') names.set(part.id, part.name);
        const name = part.type === 'tool-result' ? names.get(part.id) : undefined;
        return name === undefined ? part : ({ ...part, name } as Part);
      };
      const expected = { ...request, turns: few.map((turn) => ({ ...turn, parts: turn.parts.map(named) })) };
      const again = decode(body);
      expect(again.losses).toEqual([]);
      expect(again.request).toEqual(expected);
    }),
  );
});
