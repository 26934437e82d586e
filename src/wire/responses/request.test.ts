import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import type { BadRequestShape } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { UNKNOWN_MODEL, type Traits } from '../hub/traits.ts';
import { responsesCodec, responsesUpstream } from './codec.ts';

function decode(body: object): { request: ModelRequest; losses: string[] } {
  const losses: string[] = [];
  const document = readDocument('responses', JSON.stringify({ model: 'p/m', input: 'x', ...body }));
  return { request: responsesCodec.decodeRequest(document, (what) => losses.push(what)), losses };
}

const PLAIN: ModelRequest = {
  model: 'm',
  stream: false,
  system: [],
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
  tools: [],
  stop: [],
};

function encode(request: Partial<ModelRequest>, traits: Partial<Traits> = {}): { body: JsonObject; losses: string[] } {
  const losses: string[] = [];
  const all = { ...UNKNOWN_MODEL, ...traits };
  return { body: responsesUpstream.encodeRequest({ ...PLAIN, ...request }, all, (what) => losses.push(what)), losses };
}

const refusal = (param: string) => expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape;
const EFFORTS: Partial<Traits> = {
  reasoning: { control: 'effort', words: { low: 'low', high: 'high' }, canDisable: false },
};

const ASKED = { role: 'user', content: 'x' };
const CALLED = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const reference = (id: string) => ({ type: 'item_reference', id });

describe('a request of the family', () => {
  test('is read with all that crosses', () => {
    const { request, losses } = decode({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Really.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'hm' }],
          encrypted_content: 'c2VhbA==',
        },
        { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}', status: 'completed' },
        { type: 'function_call', call_id: 'c2', name: 'g', arguments: '' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
        { role: 'user', content: 'meanwhile' },
        { type: 'function_call_output', call_id: 'c1', output: 'one' },
        { role: 'system', content: 'Hurry.' },
        {
          type: 'message',
          id: 'm',
          status: 'completed',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'b', annotations: [], logprobs: [] },
            { type: 'refusal', refusal: 'no' },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'input_file', filename: 'a.txt', file_data: 'YQ==' },
            { type: 'input_file', file_url: 'https://x.test/b.pdf' },
          ],
        },
      ],
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
        { type: 'function', name: 'g', parameters: null, strict: null },
      ],
      tool_choice: { type: 'function', name: 'f' },
      parallel_tool_calls: false,
      text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true }, verbosity: null },
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 7,
      temperature: 0.5,
      top_p: 0.9,
      safety_identifier: 'u1',
      user: 'u2',
      service_tier: 'flex',
      prompt_cache_key: 'k',
      store: false,
      include: [],
      background: false,
      truncation: 'disabled',
      stream: true,
    });
    expect(losses).toEqual([]);
    expect(request).toEqual({
      model: 'p/m',
      stream: true,
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'Really.' },
      ],
      turns: [
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'a' },
            { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AA==' }, detail: 'low' },
          ],
        },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'hm', proof: { family: 'responses', value: 'c2VhbA==' } },
            { type: 'tool-call', id: 'c1', name: 'f', argumentsJson: '{"a":1}' },
            { type: 'tool-call', id: 'c2', name: 'g', argumentsJson: '' },
          ],
        },
        {
          role: 'user',
          parts: [
            { type: 'tool-result', id: 'c2', name: 'g', parts: [{ type: 'text', text: 'two' }], isError: false },
            { type: 'tool-result', id: 'c1', name: 'f', parts: [{ type: 'text', text: 'one' }], isError: false },
            { type: 'text', text: 'meanwhile' },
          ],
        },
        { role: 'system', parts: [{ type: 'text', text: 'Hurry.' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'text', text: 'b' },
            { type: 'refusal', text: 'no' },
          ],
        },
        {
          role: 'user',
          parts: [
            { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'YQ==' }, name: 'a.txt' },
            { type: 'media', kind: 'document', mediaType: 'application/pdf', source: { url: 'https://x.test/b.pdf' } },
          ],
        },
      ],
      tools: [{ name: 'f', parameters: { type: 'object' }, strict: true }, { name: 'g' }],
      toolChoice: { type: 'tool', name: 'f' },
      parallelTools: false,
      stop: [],
      maxOutputTokens: 7,
      temperature: 0.5,
      topP: 0.9,
      format: { type: 'json-schema', name: 'n', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'high' },
      user: 'u1',
      serviceTier: 'flex',
      promptCacheKey: 'k',
    });
  });

  test.each([
    [
      { store: true, metadata: { a: 'b' }, truncation: 'auto', top_logprobs: 2 },
      ['store', 'metadata', 'top_logprobs', 'truncation'],
    ],
    [{ include: ['reasoning.encrypted_content'] }, ['include']],
    [{ text: { verbosity: 'low' } }, ['text.verbosity']],
    [{ reasoning: { effort: 'low', mode: 'pro' } }, ['reasoning.mode']],
    [{ tools: [{ type: 'function', name: 'f', defer_loading: true }] }, ['tools[].defer_loading']],
    [{ input: [{ role: 'user', content: 'x', phase: 'commentary' }] }, ['input[].phase']],
    [
      { input: [{ role: 'user', content: [{ type: 'input_text', text: 'x', prompt_cache_breakpoint: {} }] }] },
      ['input[].content[].prompt_cache_breakpoint'],
    ],
    [{ gw: { remove: [] } }, []],
    // What was thought and said before a call, and what was thought before an answer.
    [
      { input: [ASKED, reference('rs_1'), reference('msg_1'), CALLED] },
      ['input[].item_reference', 'input[].item_reference'],
    ],
    [{ input: [ASKED, reference('rs_1'), { role: 'assistant', content: 'y' }, ASKED] }, ['input[].item_reference']],
  ])('%j loses by name', (body, losses) => {
    expect(decode(body).losses).toEqual(losses);
  });

  test.each([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ prompt: { id: 'p' } }, 'prompt'],
    [{ background: true }, 'background'],
    [{ tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } }, 'tool_choice'],
    [{ tools: [7] }, 'tools[0]'],
    [{ tools: [{ type: 'function', name: '' }] }, 'tools[0].name'],
    [{ tool_choice: { type: 'web_search' } }, 'tool_choice'],
    [{ tool_choice: 'maybe' }, 'tool_choice'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
    [{ text: { format: { type: 'json_schema', name: 'n' } } }, 'text.format.schema'],
    [{ reasoning: { effort: 'enormous' } }, 'reasoning.effort'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ input: [reference('x')] }, 'input[0].type'],
    [{ input: [ASKED, reference('rs_1'), reference('msg_1'), ASKED] }, 'input[1].type'],
    [{ input: [CALLED, reference('x'), { type: 'function_call_output', call_id: 'c', output: 'y' }] }, 'input[1].type'],
    [{ input: [reference('x'), 7] }, 'input[0].type'],
    [{ input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input[0].type'],
    [{ input: [{ type: 'function_call', name: 'f', arguments: '' }] }, 'input[0].call_id'],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: 7 }] }, 'input[0].output'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'input[0].role'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] },
      'input[0].content[0].file_id',
    ],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'ftp://x' }] }] },
      'input[0].content[0].image_url',
    ],
    [{ input: [{ role: 'user', content: [{ type: 'input_hologram' }] }] }, 'input[0].content[0].type'],
    [{ input: [{ role: 'user', content: '' }] }, 'input'],
  ])('%j is refused, naming %s', (body, param) => {
    expect(() => decode(body)).toThrow(refusal(param));
  });

  test('instructions alone are what is asked', () => {
    const { request } = decode({ instructions: 'Be brief.', input: [{ role: 'system', content: 'Say hi.' }] });
    expect(request.system).toEqual([{ type: 'text', text: 'Be brief.' }]);
    expect(request.turns).toEqual([{ role: 'user', parts: [{ type: 'text', text: 'Say hi.' }] }]);
  });

  test('only the allowed tools are there', () => {
    const tools = ['f', 'g'].map((name) => ({ type: 'function', name }));
    const choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] };
    const { request } = decode({ tools, tool_choice: choice });
    expect([request.tools, request.toolChoice]).toEqual([[{ name: 'g' }], { type: 'required' }]);
  });

  test("what the provider's own tools did is opaque, on the side it came from", () => {
    const call = { type: 'web_search_call', id: 'ws_1', action: { query: 'x' } };
    const output = { type: 'computer_call_output', call_id: 'c', output: {} };
    const { request } = decode({ input: [{ role: 'user', content: 'x' }, call, output] });
    expect(request.turns.slice(1)).toEqual([
      { role: 'assistant', parts: [{ type: 'opaque', family: 'responses', name: 'web_search_call', value: call }] },
      { role: 'user', parts: [{ type: 'opaque', family: 'responses', name: 'computer_call_output', value: output }] },
    ]);
    expect(encode({ turns: request.turns }).body['input']).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x' }] },
      call,
      output,
    ]);
  });
});

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
