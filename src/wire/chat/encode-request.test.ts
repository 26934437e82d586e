import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import type { BadRequestShape } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { toolIds } from '../hub/tool-ids.ts';
import { UNKNOWN_MODEL, type Traits } from '../hub/traits.ts';
import { chatCodec, chatUpstream } from './codec.ts';

const words = { none: 'none', minimal: 'low', low: 'low', medium: 'medium', high: 'high' };
const CAPABLE: Traits = {
  ...UNKNOWN_MODEL,
  documents: true,
  ceilingName: 'max_completion_tokens',
  reasoning: { control: 'effort', words, canDisable: true },
};
const text = (said: string): Part => ({ type: 'text', text: said });
const asking: ModelRequest = {
  model: 'p/m',
  stream: false,
  system: [],
  turns: [{ role: 'user', parts: [text('x')] }],
  tools: [],
  stop: [],
};

function encode(more: Partial<ModelRequest>, traits: Partial<Traits> = {}): { body: JsonObject; losses: string[] } {
  const losses: string[] = [];
  const body = chatUpstream.encodeRequest({ ...asking, ...more }, { ...CAPABLE, ...traits }, (what) =>
    losses.push(what),
  );
  return { body, losses };
}

/** The messages of these turns; nothing may be lost on the way. */
function messages(turns: readonly Turn[], traits: Partial<Traits> = {}): JsonObject['messages'] {
  const { body, losses } = encode({ turns }, traits);
  expect(losses).toEqual([]);
  return body['messages'];
}

describe('messages', () => {
  test('instructions under the name the model knows them by', () => {
    const system = [{ type: 'text', text: 'a' } as const, { type: 'text', text: 'b' } as const];
    expect(encode({ system }).body['messages']).toMatchObject([
      { role: 'system', content: 'a\n\nb' },
      { role: 'user' },
    ]);
    expect(encode({ system }, { systemRole: 'developer' }).body['messages']).toMatchObject([{ role: 'developer' }, {}]);
    const marked = [{ type: 'text', text: 'a', cache: { ttl: '1h' } }] as const;
    expect(encode({ system: marked }).body['messages']).toMatchObject([
      { content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      {},
    ]);
  });

  test('instructions in the middle, where the model takes them, or as words of the user', () => {
    const turns: Turn[] = [...asking.turns, { role: 'system', parts: [text('s')] }];
    expect(messages(turns, { systemRole: 'developer' })).toMatchObject([{ role: 'user' }, { role: 'developer' }]);
    expect(messages(turns, { midSystem: false })).toMatchObject([{ role: 'user' }, { role: 'user', content: 's' }]);
  });

  test('the beginning of an answer, where the model goes on with it, or behind a word of the user', () => {
    const turns: Turn[] = [...asking.turns, { role: 'assistant', parts: [text('a')] }];
    expect(messages(turns)).toHaveLength(2);
    expect(messages(turns, { prefill: false })).toMatchObject([{}, { role: 'assistant' }, { role: 'user' }]);
  });

  test('results of tools, then what they hold beside text, then what the user says', () => {
    const image: Part = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' } };
    const result = (id: string, isError: boolean, ...parts: Part[]): Part => ({
      type: 'tool-result',
      id,
      parts,
      isError,
    });
    const call = (id: string): Part => ({ type: 'tool-call', id, name: 'f', argumentsJson: '' });
    const written = messages([
      ...asking.turns,
      { role: 'assistant', parts: [call('1'), call('2'), call('3')] },
      {
        role: 'user',
        parts: [
          result('1', false, text('r'), image),
          result('2', true, text('s')),
          result('3', true, image),
          text('u'),
        ],
      },
    ]);
    const [first, second] = ["[image 1 of the tools' results]", "[image 2 of the tools' results]"];
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const called = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
    expect(written).toEqual([
      { role: 'user', content: 'x' },
      { role: 'assistant', content: null, tool_calls: [called('1'), called('2'), called('3')] },
      { role: 'tool', tool_call_id: '1', content: `r\n\n${first}` },
      { role: 'tool', tool_call_id: '2', content: 'Error: s' },
      { role: 'tool', tool_call_id: '3', content: `Error: ${second}` },
      {
        role: 'user',
        content: [
          { type: 'text', text: first },
          picture,
          { type: 'text', text: second },
          picture,
          { type: 'text', text: 'u' },
        ],
      },
    ]);
  });

  test('documents and sound in the form the model takes', () => {
    const document = (mediaType: string, source: { data: string } | { url: string }, name?: string): Part => ({
      type: 'media',
      kind: 'document',
      mediaType,
      source,
      ...(name === undefined ? {} : { name }),
    });
    const audio: Part = { type: 'media', kind: 'audio', mediaType: 'audio/mpeg', source: { data: 'AA' } };
    const parts = [
      document('text/plain', { data: 'w6k=' }, 'a.txt'),
      document('application/pdf', { data: 'JVBE' }),
      document('application/pdf', { data: 'JVBE' }, 'b.pdf'),
      audio,
    ];
    const file = (filename: string) => ({
      type: 'file',
      file: { filename, file_data: 'data:application/pdf;base64,JVBE' },
    });
    expect(messages([{ role: 'user', parts }])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a.txt:\n\né' },
          file('document.pdf'),
          file('b.pdf'),
          { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } },
        ],
      },
    ]);
    const ogg: Part = { ...audio, mediaType: 'audio/ogg' };
    const image: Part = { type: 'media', kind: 'image', mediaType: 'image/*', source: { url: 'https://example.org' } };
    for (const [part, traits] of [
      [document('application/pdf', { data: 'JVBE' }), { documents: false }],
      [document('application/pdf', { url: 'https://example.org' }), {}],
      [audio, { audio: false }],
      [ogg, {}],
      [image, { vision: false }],
      [image, { remoteMedia: false }],
    ] as const) {
      expect(() => messages([{ role: 'user', parts: [part] }], traits)).toThrow(
        expect.objectContaining({ name: 'BadRequestShape' }) as BadRequestShape,
      );
    }
  });

  test('what belongs to another family is lost by name, and a turn of nothing else is not there', () => {
    const { body, losses } = encode({
      turns: [
        ...asking.turns,
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'r', proof: { family: 'messages', value: 'p' } },
            { type: 'opaque', family: 'messages', name: 'redacted_thinking', value: {} },
          ],
        },
      ],
    });
    expect(body['messages']).toEqual([{ role: 'user', content: 'x' }]);
    expect(losses).toEqual(['thinking', 'content[redacted_thinking]']);
  });

  test('calls and results keep finding each other under ids that the model takes', () => {
    const turns: Turn[] = [
      { role: 'assistant', parts: [{ type: 'tool-call', id: 'call_1', name: 'f', argumentsJson: '{}' }] },
      { role: 'user', parts: [{ type: 'tool-result', id: 'call_1', parts: [], isError: false }] },
    ];
    const id = toolIds('nine')('call_1');
    expect(messages(turns, { toolIds: 'nine' })).toMatchObject([
      { tool_calls: [{ id }] },
      { tool_call_id: id, content: '' },
    ]);
  });
});

describe('the rest of a request', () => {
  const tools = [{ name: 'f', parameters: { type: 'object' }, strict: true, cache: {} }];
  const schema = { type: 'json-schema', name: 'a b', schema: { type: 'object' } } as const;
  test.each<[Partial<ModelRequest>, Partial<Traits>, JsonObject, readonly string[]]>([
    [{ maxOutputTokens: 9 }, {}, { max_completion_tokens: 9 }, []],
    [{ maxOutputTokens: 9 }, { ceilingName: 'max_tokens', maxOutputTokens: 5 }, { max_tokens: 5 }, []],
    [{ maxOutputTokens: 0 }, {}, { max_completion_tokens: 1 }, []],
    [{ stream: true }, {}, { stream: true, stream_options: { include_usage: true } }, []],
    [{ temperature: 1.5, topP: 1 }, { maxTemperature: 1 }, { temperature: 1, top_p: 1 }, ['temperature']],
    [{ temperature: 1, topP: 1, topK: 3 }, { sampling: 'fixed' }, {}, ['temperature', 'top_p', 'top_k']],
    [
      { topK: 3, seed: 1, presencePenalty: 1, frequencyPenalty: 2 },
      {},
      { seed: 1, presence_penalty: 1, frequency_penalty: 2 },
      ['top_k'],
    ],
    [{ stop: ['a', 'b', 'c'] }, { maxStops: 2 }, { stop: ['a', 'b'] }, ['stop']],
    [{ stop: ['a'] }, { maxStops: 0 }, {}, ['stop']],
    [{ reasoning: { effort: 'minimal' } }, {}, { reasoning_effort: 'low' }, []],
    [{ reasoning: { effort: 'max' } }, {}, {}, ['reasoning_effort']],
    [{ reasoning: { effort: 'none' } }, { reasoning: UNKNOWN_MODEL.reasoning }, {}, []],
    [
      { user: 'u', promptCacheKey: 'k', serviceTier: 'standard_only' },
      {},
      { safety_identifier: 'u', prompt_cache_key: 'k', service_tier: 'default' },
      [],
    ],
    [{ user: 'u'.repeat(128) }, {}, { safety_identifier: 'u'.repeat(128) }, []],
    [{ user: 'u'.repeat(129) }, {}, {}, ['user']],
    [{ serviceTier: 'batch' }, {}, {}, ['service_tier']],
    [
      { tools, toolChoice: { type: 'tool', name: 'f' }, parallelTools: false },
      {},
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', parameters: { type: 'object' }, strict: true },
            cache_control: { type: 'ephemeral' },
          },
        ],
        tool_choice: { type: 'function', function: { name: 'f' } },
        parallel_tool_calls: false,
      },
      [],
    ],
    [{ toolChoice: { type: 'auto' }, parallelTools: true }, {}, {}, []],
    [{ tools, toolChoice: { type: 'none' } }, { tools: false }, {}, ['tools']],
    [{ format: { type: 'json' } }, { json: 'object' }, { response_format: { type: 'json_object' } }, []],
    [
      { format: schema },
      {},
      { response_format: { type: 'json_schema', json_schema: { name: 'a_b', schema: { type: 'object' } } } },
      [],
    ],
  ])('%j with %j', (more, traits, expected, lost) => {
    const { body, losses } = encode(more, traits);
    const { model, messages: _messages, ...rest } = body;
    expect(model).toBe('p/m');
    expect(rest).toEqual(expected);
    expect(losses).toEqual(lost);
  });

  test('a choice that the model does not take becomes its own', () => {
    const { body, losses } = encode({ tools, toolChoice: { type: 'required' } }, { forcedTools: false });
    expect(body['tool_choice']).toBe('auto');
    expect(losses).toEqual(['tool_choice']);
  });

  test.each([
    ['object', { type: 'json_object' }],
    ['tool', undefined],
    ['none', undefined],
  ] as const)('a model that takes no schema (%s) is told it in words', (json, format) => {
    const { body, losses } = encode({ format: schema, system: [{ type: 'text', text: 's' }] }, { json });
    expect(body['response_format']).toEqual(format);
    const [system] = body['messages'] as unknown as readonly { content: string }[];
    expect(system?.content).toMatch(/^s\n\n[^]*JSON Schema:\n\{"type":"object"\}$/);
    expect(losses).toEqual(['response_format']);
  });
});

describe('what is written reads as it was', () => {
  const said = fc.string({ minLength: 1, maxLength: 8 }).map((some) => `${some}.`);
  const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
  const mark = fc.option(fc.record({ ttl: fc.constantFrom('5m', '1h') }), { nil: undefined });
  const marked = <T extends object>(part: T, cache: { ttl: string } | undefined) => (cache ? { ...part, cache } : part);
  const textPart = fc.tuple(said, mark).map(([some, cache]) => marked({ type: 'text' as const, text: some }, cache));
  const image = fc.constantFrom(
    { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' }, detail: 'low' } as const,
    { type: 'media', kind: 'image', mediaType: 'image/webp', source: { url: 'https://example.org/a.webp' } } as const,
    { type: 'media', kind: 'audio', mediaType: 'audio/wav', source: { data: 'AAAA' } } as const,
    { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'JV' }, name: 'a.pdf' } as const,
  );
  const content = fc.oneof(
    textPart.map((part) => [part]),
    fc.tuple(textPart, image, textPart).map((parts) => parts as Part[]),
  );
  const round = fc
    .record({
      asked: content,
      answered: said,
      refusal: fc.option(said, { nil: undefined }),
      calls: fc.uniqueArray(fc.record({ id, name: id, cache: mark, result: said, resultCache: mark }), {
        selector: (call) => call.id,
        maxLength: 3,
      }),
    })
    .map(({ asked, answered, refusal, calls }): Turn[] => [
      { role: 'user', parts: asked },
      {
        role: 'assistant',
        parts: [
          text(answered),
          ...(refusal === undefined ? [] : [{ type: 'refusal', text: refusal } as const]),
          ...calls.map((call) =>
            marked({ type: 'tool-call' as const, id: call.id, name: call.name, argumentsJson: '{"a":1}' }, call.cache),
          ),
        ],
      },
      {
        role: 'user',
        parts: [
          ...calls.map(({ id: of, name, result, resultCache }) =>
            marked({ type: 'tool-result' as const, id: of, name, parts: [text(result)], isError: false }, resultCache),
          ),
          text('and?'),
        ],
      },
      { role: 'system', parts: [text('s')] },
      { role: 'assistant', parts: [text('z')] },
    ]);
  const request = fc.record(
    {
      model: fc.constant('p/m'),
      stream: fc.boolean(),
      system: fc.oneof(
        fc.constant([]),
        textPart.map((part) => [part]),
      ),
      turns: round,
      tools: fc.uniqueArray(fc.record({ name: id, parameters: fc.constant({ type: 'object' }) }), {
        minLength: 1,
        selector: ({ name }) => name,
      }),
      toolChoice: fc.oneof(
        fc.record({ type: fc.constantFrom('auto', 'none', 'required') }),
        id.map((name) => ({ type: 'tool' as const, name })),
      ),
      parallelTools: fc.boolean(),
      maxOutputTokens: fc.integer({ min: 1, max: 1000 }),
      temperature: fc.double({ min: 0, max: 2, noNaN: true }).map((some) => some + 0),
      topP: fc.constantFrom(0.1, 1),
      stop: fc.array(said, { maxLength: 4 }),
      seed: fc.nat(),
      presencePenalty: fc.constantFrom(-1, 1),
      frequencyPenalty: fc.constantFrom(-1, 1),
      format: fc.constantFrom(
        { type: 'json' } as const,
        { type: 'json-schema', name: 'n', schema: { type: 'object' }, strict: true } as const,
      ),
      reasoning: fc.constantFrom({ effort: 'none' } as const, { effort: 'high' } as const),
      user: said,
      serviceTier: fc.constantFrom('auto', 'flex'),
      promptCacheKey: said,
    },
    { requiredKeys: ['model', 'stream', 'system', 'turns', 'tools', 'stop'] },
  );

  test('whatever the family can express', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const losses: string[] = [];
        const lose = (what: string): void => void losses.push(what);
        const body = chatUpstream.encodeRequest(asked, CAPABLE, lose);
        expect(chatCodec.decodeRequest(readDocument('chat', JSON.stringify(body)), lose)).toEqual(asked);
        expect(losses).toEqual([]);
      }),
    );
  });
});
