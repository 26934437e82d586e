import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import type { Traits } from '../hub/traits.ts';
import { decode, PLAIN, encode, refusal } from './testing/requests.ts';

const EFFORTS: Partial<Traits> = {
  reasoning: { control: 'effort', words: { low: 'low', high: 'high' }, canDisable: false },
};

describe('a request for the family', () => {
  test('keeps nothing at the provider, and says what it must', () => {
    const { body, losses } = encode({
      stream: true,
      system: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      tools: [{ name: 'f' }],
      toolChoice: { type: 'tool', name: 'f' },
      maxOutputTokens: 3,
      format: { type: 'json-schema', name: 'my schema', schema: {} },
      serviceTier: 'standard_only',
      user: 'u',
    });
    expect(losses).toEqual([]);
    expect(body).toEqual({
      model: 'm',
      stream: true,
      store: false,
      instructions: 'a\n\nb',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] }],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
      tool_choice: { type: 'function', name: 'f' },
      max_output_tokens: 16,
      text: { format: { type: 'json_schema', name: 'my_schema', schema: {} } },
      service_tier: 'default',
      safety_identifier: 'u',
    });
  });

  test.each<[string, Partial<ModelRequest>, Partial<Traits>, readonly string[], object]>([
    [
      'no words',
      { topK: 1, stop: ['x'], seed: 1, presencePenalty: 1, frequencyPenalty: 1 },
      {},
      ['top_k', 'stop', 'seed', 'presence_penalty', 'frequency_penalty'],
      {},
    ],
    [
      'fixed sampling',
      { temperature: 1, topP: 1, topK: 1 },
      { sampling: 'fixed' },
      ['temperature', 'top_p', 'top_k'],
      {},
    ],
    ['an effort', { reasoning: { effort: 'high' } }, EFFORTS, [], { reasoning: { effort: 'high' } }],
    ['an effort the model lacks', { reasoning: { effort: 'max' } }, EFFORTS, ['reasoning_effort'], {}],
    ['an effort for a model without', { reasoning: { effort: 'high' } }, {}, ['reasoning_effort'], {}],
    [
      'tools for a model without',
      { tools: [{ name: 'f' }], toolChoice: { type: 'required' } },
      { tools: false },
      ['tools'],
      {},
    ],
    ['a choice it cannot be held to', { tools: [], toolChoice: { type: 'required' } }, { forcedTools: false }, [], {}],
    ['a tier of others', { serviceTier: 'reserved' }, {}, ['service_tier'], {}],
    [
      'marks on an instruction',
      { system: [{ type: 'text', text: 's', cache: {} }] },
      {},
      ['cache_control'],
      { instructions: 's' },
    ],
    [
      'marks on a tool',
      { tools: [{ name: 'f', cache: { ttl: '1h' } }] },
      {},
      ['cache_control'],
      { tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }] },
    ],
    ['a user too long', { user: 'u'.repeat(200) }, {}, ['user'], {}],
    ['a ceiling too high', { maxOutputTokens: 9000 }, { maxOutputTokens: 8000 }, [], { max_output_tokens: 8000 }],
    [
      'a format in words',
      { format: { type: 'json' } },
      { json: 'none' },
      ['response_format'],
      { instructions: expect.stringContaining('JSON') as string },
    ],
    [
      'a schema in words',
      { format: { type: 'json-schema', name: 'n', schema: { a: 1 } } },
      { json: 'object' },
      ['response_format'],
      { instructions: expect.stringContaining('{"a":1}') as string, text: { format: { type: 'json_object' } } },
    ],
  ])('%s', (_name, request, traits, losses, more) => {
    const encoded = encode(request, traits);
    expect(encoded.losses).toEqual(losses);
    const { model: _model, input: _input, store: _store, ...rest } = encoded.body;
    expect(rest).toEqual(more);
  });

  test('calls, results and what they hold stand where they stood', () => {
    const image: Part = { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AA==' } };
    const turns: Turn[] = [
      { role: 'user', parts: [{ type: 'text', text: 'q' }] },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', proof: { family: 'messages', value: 'sig' } },
          { type: 'reasoning', text: 'hm', proof: { family: 'responses', value: 'seal' } },
          { type: 'text', text: 'a' },
          { type: 'tool-call', id: 'toolu:1', name: 'f', argumentsJson: '' },
          { type: 'opaque', family: 'messages', name: 'redacted_thinking', value: {} },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', id: 'toolu:1', parts: [{ type: 'text', text: 'bad' }], isError: true },
          { type: 'tool-result', id: 'c2', parts: [{ type: 'text', text: 't' }, image], isError: false },
          { type: 'tool-result', id: 'c3', parts: [], isError: false },
          { type: 'text', text: 'go' },
        ],
      },
      { role: 'system', parts: [{ type: 'text', text: 'now' }] },
    ];
    const { body, losses } = encode({ turns }, { systemRole: 'developer' });
    const items = body['input'] as readonly JsonObject[];
    const id = items[3]?.['call_id'];
    expect(id).toMatch(/^call_[a-z0-9]+$/);
    expect(losses).toEqual(['thinking', 'content[redacted_thinking]']);
    expect(items).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'seal' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
      { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: id, output: 'Error: bad' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 't' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'auto' },
        ],
      },
      { type: 'function_call_output', call_id: 'c3', output: '' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'now' }] },
    ]);
    const user = encode({ turns }, { midSystem: false }).body['input'] as readonly JsonObject[];
    expect(user.at(-1)).toMatchObject({ role: 'user', content: [{ text: 'now' }] });
  });

  test('an answer that was begun is gone on with only where the model can', () => {
    const turns: Turn[] = [...PLAIN.turns, { role: 'assistant', parts: [{ type: 'text', text: 'a' }] }];
    expect(encode({ turns }).body['input']).toHaveLength(2);
    const items = encode({ turns }, { prefill: false }).body['input'] as readonly JsonObject[];
    expect(items.at(-1)).toMatchObject({ role: 'user' });
  });

  const pdf: Part = { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { data: 'AA==' } };
  const remote: Part = { type: 'media', kind: 'image', mediaType: 'image/*', source: { url: 'https://x.test/a' } };
  const audio: Part = { type: 'media', kind: 'audio', mediaType: 'audio/wav', source: { data: 'AA==' } };
  test.each<[Part, Partial<Traits>, object | undefined]>([
    [audio, {}, undefined],
    [pdf, {}, undefined],
    [
      pdf,
      { documents: true },
      { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA==' },
    ],
    [
      { ...pdf, source: { url: 'https://x.test/b' } },
      { documents: true },
      { type: 'input_file', file_url: 'https://x.test/b' },
    ],
    [{ ...pdf, source: { url: 'https://x.test/b' } }, { documents: true, remoteMedia: false }, undefined],
    [
      { ...pdf, mediaType: 'text/csv', source: { data: 'YSxi' }, name: 'a.csv' },
      {},
      { type: 'input_text', text: 'a.csv:\n\na,b' },
    ],
    [remote, {}, { type: 'input_image', image_url: 'https://x.test/a', detail: 'auto' }],
    [remote, { remoteMedia: false }, undefined],
    [remote, { vision: false }, undefined],
  ])('%j', (part, traits, content) => {
    const write = () => encode({ turns: [{ role: 'user', parts: [part] }] }, traits).body['input'];
    if (content === undefined) expect(write).toThrow(refusal('input'));
    else expect(write()).toEqual([{ type: 'message', role: 'user', content: [content] }]);
  });
});

describe('there and back', () => {
  const text = fc.string({ minLength: 1 }).filter((value) => value.trim() !== '');
  const said = fc.record({ type: fc.constant('text' as const), text });
  const image = fc.record({
    type: fc.constant('media' as const),
    kind: fc.constant('image' as const),
    mediaType: fc.constantFrom('image/png', 'image/jpeg'),
    source: fc.record({ data: fc.base64String({ minLength: 4 }) }),
    detail: fc.constantFrom('low', 'auto'),
  });
  const id = fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/);
  const call = fc.record({ type: fc.constant('tool-call' as const), id, name: id, argumentsJson: fc.json() });
  const reasoning = fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.string(),
    proof: fc.record({ family: fc.constant('responses' as const), value: fc.base64String({ minLength: 4 }) }),
  });
  const refused = fc.record({ type: fc.constant('refusal' as const), text });
  const result = fc.record({
    type: fc.constant('tool-result' as const),
    id,
    parts: fc.oneof(fc.tuple(said), fc.tuple(said, image)),
    isError: fc.constant(false),
  });
  const user = fc.record({
    role: fc.constant('user' as const),
    parts: fc
      .tuple(fc.array(result, { maxLength: 2 }), fc.array(fc.oneof(said, image), { minLength: 1, maxLength: 3 }))
      .map(([results, others]) => [...results, ...others]),
  });
  const assistant = fc.record({
    role: fc.constant('assistant' as const),
    parts: fc.array(fc.oneof(said, call, reasoning, refused), { minLength: 1, maxLength: 4 }),
  });
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const request = fc.record({
    model: fc.constant('p/m'),
    stream: fc.boolean(),
    system: fc.array(said, { maxLength: 1 }),
    turns: fc.array(fc.tuple(user, assistant), { minLength: 1, maxLength: 3 }).map((pairs) => pairs.flat()),
    tools: fc.uniqueArray(
      fc.record({ name: id, description: text, parameters: fc.constant({ type: 'object' }), strict: fc.boolean() }),
      { minLength: 1, maxLength: 2, selector: ({ name }) => name },
    ),
    toolChoice: fc.oneof(
      fc.record({ type: fc.constantFrom('auto' as const, 'none' as const, 'required' as const) }),
      fc.record({ type: fc.constant('tool' as const), name: id }),
    ),
    parallelTools: maybe(fc.boolean()),
    maxOutputTokens: maybe(fc.integer({ min: 16, max: 9999 })),
    temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true }).map(Math.abs)),
    topP: maybe(fc.double({ min: 0, max: 1, noNaN: true }).map(Math.abs)),
    stop: fc.constant([]),
    format: maybe(
      fc.oneof(
        fc.constant({ type: 'json' as const }),
        fc.record({
          type: fc.constant('json-schema' as const),
          name: fc.stringMatching(/^[a-z]{1,9}$/),
          schema: fc.constant({ type: 'object' }),
          strict: fc.boolean(),
        }),
      ),
    ),
    user: maybe(id),
    serviceTier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority')),
    promptCacheKey: maybe(id),
  });

  test('what the family can express comes back as it was', () => {
    fc.assert(
      fc.property(request, (asked) => {
        const { body, losses } = encode(asked as ModelRequest);
        const back = decode(body);
        expect([...losses, ...back.losses]).toEqual([]);
        const named = new Map<string, string>();
        const turns = asked.turns.map((turn) => ({
          ...turn,
          parts: turn.parts.map((part) => {
            if (part.type === 'tool-call') named.set(part.id, part.name);
            const name = part.type === 'tool-result' ? named.get(part.id) : undefined;
            return name === undefined ? part : { ...part, name };
          }),
        }));
        expect(back.request).toEqual(JSON.parse(JSON.stringify({ ...asked, turns })));
      }),
    );
  });
});
