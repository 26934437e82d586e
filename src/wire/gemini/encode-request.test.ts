import type { Content, GenerationConfig, Tool, ToolConfig } from '@google/genai';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OnTheWire } from '../../../test/harness/wire-type.ts';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import { UNKNOWN_MODEL, type Traits } from '../hub/traits.ts';
import { geminiUpstream } from './codec.ts';

interface Body {
  readonly contents: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly Tool[];
  readonly toolConfig?: ToolConfig;
  readonly generationConfig?: GenerationConfig;
  readonly serviceTier?: string;
}

const LEVEL: Traits = {
  ...UNKNOWN_MODEL,
  documents: true,
  reasoning: { control: 'level', words: { none: 'LOW', minimal: 'LOW', high: 'HIGH' }, canDisable: false },
};
const BUDGET: Traits = {
  ...UNKNOWN_MODEL,
  remoteMedia: false,
  prefill: false,
  reasoning: {
    control: 'budget',
    words: {},
    budget: { shares: { low: 0.1, high: 0.6 }, of: 65_536, least: 128, most: 24_576 },
    canDisable: true,
  },
};

const said = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const answered = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const text = (words: string): Part => ({ type: 'text', text: words });
const call = (id: string, argumentsJson = '{}'): Part => ({ type: 'tool-call', id, name: `f${id}`, argumentsJson });
const result = (id: string, ...parts: readonly Part[]): Part => ({ type: 'tool-result', id, parts, isError: false });

function encode(request: Partial<ModelRequest>, traits: Traits = LEVEL): { body: Body; losses: readonly string[] } {
  const losses: string[] = [];
  const base: ModelRequest = {
    model: 'm',
    stream: true,
    system: [],
    turns: [said(text('hi'))],
    tools: [],
    stop: [],
  };
  const body = geminiUpstream.encodeRequest({ ...base, ...request }, traits, (what) => losses.push(what));
  return { body: body as unknown as Body, losses };
}

test('a whole request, as the vendor types it', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const { body, losses } = encode({
    system: [{ type: 'text', text: 'be brief' }],
    turns: [
      said({ type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } }, text('look')),
      answered({ type: 'reasoning', text: 'hm' }, text('I look'), {
        type: 'tool-call',
        id: 'c1',
        name: 'f',
        argumentsJson: '{"a":1}',
        proof: { family: 'gemini', value: 'c2ln' },
      }),
      said({ type: 'tool-result', id: 'c1', parts: [text('no')], isError: true }, text('well?')),
    ],
    tools: [{ name: 'f', description: 'does', parameters: schema }],
    toolChoice: { type: 'tool', name: 'f' },
    maxOutputTokens: 100,
    temperature: 0.5,
    topK: 3,
    stop: ['END'],
    seed: 7,
    format: { type: 'json-schema', name: 'n', schema },
    reasoning: { effort: 'high' },
    serviceTier: 'default',
  });
  const expected = {
    systemInstruction: { parts: [{ text: 'be brief' }] },
    contents: [
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { text: 'look' }] },
      {
        role: 'model',
        parts: [
          { text: 'I look' },
          { functionCall: { id: 'c1', name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'f', response: { error: 'no' } } }, { text: 'well?' }],
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'f', description: 'does', parametersJsonSchema: schema }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    generationConfig: {
      maxOutputTokens: 100,
      temperature: 0.5,
      topK: 3,
      stopSequences: ['END'],
      seed: 7,
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    },
    serviceTier: 'standard',
  } satisfies OnTheWire<Body>;
  expect(body).toEqual(expected);
  expect(losses).toEqual(['thinking']);
});

test('what has no place is named', () => {
  const { body, losses } = encode({
    turns: [said({ type: 'text', text: 'a', cache: {} })],
    tools: [{ name: 'f', strict: true }],
    parallelTools: false,
    user: 'u',
    promptCacheKey: 'k',
    serviceTier: 'scale',
    stop: ['', 'a', 'b', 'c', 'd', 'e'],
    reasoning: { effort: 'max' },
  });
  expect(losses.toSorted()).toEqual([
    'cache_control',
    'parallel_tool_calls',
    'prompt_cache_key',
    'reasoning_effort',
    'service_tier',
    'stop',
    'tools.strict',
    'user',
  ]);
  expect(body.generationConfig).toEqual({ stopSequences: ['a', 'b', 'c', 'd'] });
});

test('what a model refuses is not in its settings', () => {
  const rejects = new Set(['presencePenalty']);
  const { body, losses } = encode(
    { presencePenalty: 1, frequencyPenalty: 1, tools: [{ name: 'f' }] },
    {
      ...LEVEL,
      rejects,
      tools: false,
    },
  );
  expect(body).not.toHaveProperty('tools');
  expect([body.generationConfig, losses]).toEqual([{ frequencyPenalty: 1 }, ['tools', 'presencePenalty']]);
});

describe('thinking', () => {
  const thinking = (request: Partial<ModelRequest>, traits: Traits): unknown =>
    encode(request, traits).body.generationConfig?.thinkingConfig;

  test.each([
    [{ effort: 'low' }, { thinkingBudget: 6553, includeThoughts: true }],
    [{ effort: 'high' }, { thinkingBudget: 24_576, includeThoughts: true }],
    [{ effort: 'none' }, { thinkingBudget: 0, includeThoughts: false }],
    [
      { effort: 'low', budget: 5 },
      { thinkingBudget: 128, includeThoughts: true },
    ],
    [{ effort: 'medium' }, undefined],
  ] as const)('a budget for %j is %j', (reasoning, expected) => {
    expect(thinking({ reasoning }, BUDGET)).toEqual(expected);
  });

  test('a level that must be some is the lowest, and is not shown', () => {
    const expected = { thinkingLevel: 'LOW', includeThoughts: false };
    expect(thinking({ reasoning: { effort: 'none' } }, LEVEL)).toEqual(expected);
  });

  test('a model without a switch is told nothing', () => {
    const { body, losses } = encode({ reasoning: { effort: 'high' } }, UNKNOWN_MODEL);
    expect([body.generationConfig, losses]).toEqual([undefined, ['reasoning_effort']]);
  });
});

describe('JSON', () => {
  const format = { type: 'json-schema', name: 'n', schema: { type: 'object' } } as const;

  test('is asked for in words beside the tools of a model that cannot be held to both', () => {
    const { body, losses } = encode({ format, tools: [{ name: 'f' }] }, BUDGET);
    expect(body.generationConfig).toBeUndefined();
    expect(JSON.stringify(body.systemInstruction)).toContain('JSON Schema');
    expect(losses).toEqual(['response_format']);
  });

  test('is held to where it can be', () => {
    expect(encode({ format }, BUDGET).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object' },
    });
    expect(encode({ format: { type: 'json' } }, LEVEL).body.generationConfig).toEqual({
      responseMimeType: 'application/json',
    });
  });
});

describe('calls of other models', () => {
  const turns = [said(text('a')), answered(call('1'), call('2')), said(result('1'), result('2'))];
  const signatures = (traits: Traits): unknown =>
    encode({ turns }, traits).body.contents[1]?.parts?.map((part) => part.thoughtSignature);

  test('get leave to be unsigned, once a turn, where signatures are checked', () => {
    expect(signatures(LEVEL)).toEqual(['skip_thought_signature_validator', undefined]);
    expect(signatures(BUDGET)).toEqual([undefined, undefined]);
  });

  test('pictures of a tool go with its result or, for older models, after it', () => {
    const image: Part = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } };
    const seen = [said(text('a')), answered(call('1')), said(result('1', text('r'), image))];
    const inlineData = { mimeType: 'image/png', data: 'AAAA' };
    const response = { id: '1', name: 'f1', response: { output: 'r' } };
    expect(encode({ turns: seen }, LEVEL).body.contents[2]?.parts).toEqual([
      { functionResponse: { ...response, parts: [{ inlineData }] } },
    ]);
    expect(encode({ turns: seen }, BUDGET).body.contents[2]?.parts).toEqual([
      { functionResponse: response },
      { inlineData },
    ]);
  });
});

describe('content that must not be dropped in silence', () => {
  const media = (kind: 'image' | 'audio' | 'document', mediaType: string, url?: string): Part => ({
    type: 'media',
    kind,
    mediaType,
    source: url === undefined ? { data: 'AAAA' } : { url },
  });
  test.each([
    [media('audio', 'audio/wav'), { ...LEVEL, audio: false }],
    [media('image', 'image/png'), { ...LEVEL, vision: false }],
    [media('document', 'application/pdf'), BUDGET],
    [media('document', 'application/msword'), LEVEL],
    [media('image', 'image/png', 'https://example.org/a.png'), BUDGET],
    [result('nowhere'), LEVEL],
  ] as const)('%j is refused', (part, traits) => {
    expect(() => encode({ turns: [said(part)] }, traits)).toThrow(expect.objectContaining({ name: 'BadRequestShape' }));
  });

  test('what a model takes by address goes by address, and text files as text', () => {
    const note: Part = { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'w6k=' } };
    const { body } = encode({ turns: [said(media('image', 'image/png', 'https://example.org/a.png'), note)] });
    expect(body.contents[0]?.parts).toEqual([
      { fileData: { mimeType: 'image/png', fileUri: 'https://example.org/a.png' } },
      { text: 'é' },
    ]);
  });
});

describe('any conversation', () => {
  const words = fc.constantFrom('a', 'b', ' ', '', '\n');
  const part: fc.Arbitrary<Part> = fc.oneof(
    words.map(text),
    fc.record({ type: fc.constant('reasoning' as const), text: words }),
    fc.record({
      type: fc.constant('opaque' as const),
      family: fc.constantFrom('gemini' as const, 'messages' as const),
      name: fc.constant('block'),
      value: fc.constant({ executableCode: {} }),
    }),
  );
  const turn: fc.Arbitrary<readonly Turn[]> = fc.oneof(
    fc
      .record({
        role: fc.constantFrom('user' as const, 'assistant' as const, 'system' as const),
        parts: fc.array(part),
      })
      .map((one) => [one]),
    fc
      .tuple(fc.constantFrom('1', '2'), words)
      .map(([id, output]) => [answered(text('t'), call(id, '{"n":1.5}')), said(text('x'), result(id, text(output)))]),
  );

  test('alternates, begins with the user, has results first and loses no word', () => {
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 6 }), fc.constantFrom(LEVEL, BUDGET), (turns, traits) => {
        const flat = turns.flat();
        const { contents } = encode({ turns: flat }, traits).body;
        expect(contents.map(({ role }) => role)).toEqual(
          contents.map((_content, index) => (index % 2 === 0 ? 'user' : 'model')),
        );
        if (!traits.prefill) expect(contents.at(-1)?.role).toBe('user');
        for (const { parts = [] } of contents) {
          expect(parts).not.toHaveLength(0);
          const results = parts.map((one) => one.functionResponse !== undefined);
          expect(results).toEqual(results.toSorted((a, b) => Number(b) - Number(a)));
        }
        const sent = contents
          .flatMap(({ parts = [] }) => parts)
          .map((one) => one.text)
          .filter((one) => one !== 'Continue.');
        const meant = flat.flatMap(({ parts }) => parts).flatMap((one) => (one.type === 'text' ? [one.text] : []));
        expect(sent.filter((one) => one !== undefined).toSorted()).toEqual(
          meant.filter((one) => one.trim() !== '').toSorted(),
        );
        const calls = contents.flatMap(({ parts = [] }) => parts.flatMap((one) => one.functionCall ?? []));
        const results = contents.flatMap(({ parts = [] }) => parts.flatMap((one) => one.functionResponse ?? []));
        expect(results.map(({ id, name }) => [id, name])).toEqual(calls.map(({ id, name }) => [id, name]));
        expect(calls.every(({ args }) => args?.['n'] === 1.5)).toBe(true);
      }),
    );
  });
});
