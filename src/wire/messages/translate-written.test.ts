import { describe, expect, test } from 'vitest';
import type { ModelRequest, Part, Turn } from '../hub/canonical.ts';
import type { JsonObject } from '../document/json.ts';
import type { Traits } from '../hub/traits.ts';
import { stringOf } from './decode-answer.ts';
import { type Body, CLAUDE, BUDGET, said, answered, text, encode, refused } from './testing/requests.ts';

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
});
