import { describe, expect, test } from 'vitest';
import type { ModelRequest } from '../hub/canonical.ts';
import type { BadRequestShape } from '../hub/codec.ts';
import { readDocument } from '../document/document.ts';
import { mintedId } from '../hub/tool-ids.ts';
import { chatCodec } from './codec.ts';

const user = { role: 'user', content: 'x' };

function decode(more: object): { request: ModelRequest; losses: string[] } {
  const losses: string[] = [];
  const document = readDocument('chat', JSON.stringify({ model: 'p/m', messages: [user], ...more }));
  return { request: chatCodec.decodeRequest(document, (what) => losses.push(what)), losses };
}

/** The turns of a conversation; nothing may be lost on the way. */
function turns(...messages: readonly object[]): ModelRequest['turns'] {
  const { request, losses } = decode({ messages });
  expect(losses).toEqual([]);
  return request.turns;
}

describe('messages', () => {
  test('instructions before the conversation, and in the middle of it', () => {
    const { request } = decode({
      messages: [
        { role: 'system', content: 'a' },
        { role: 'developer', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
        { role: 'system', content: ' ' },
        user,
        { role: 'system', content: 'c' },
        { role: 'assistant', content: 'd' },
      ],
    });
    expect(request.system).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache: { ttl: '1h' } },
    ]);
    expect(request.turns).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'x' }] },
      { role: 'system', parts: [{ type: 'text', text: 'c' }] },
      { role: 'assistant', parts: [{ type: 'text', text: 'd' }] },
    ]);
  });

  test('instructions alone are what is asked', () => {
    const { request } = decode({ messages: [{ role: 'system', content: 'a' }] });
    expect(request).toMatchObject({ system: [], turns: [{ role: 'user', parts: [{ type: 'text', text: 'a' }] }] });
  });

  test('every kind of content', () => {
    const pdf = { type: 'media', kind: 'document', mediaType: 'application/pdf' };
    const content = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
      { type: 'image_url', image_url: 'https://example.org/a.jpeg?b=.gif' },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
      { type: 'file', file: { filename: 'a.txt', file_data: 'YQ==' } },
      { type: 'file', file: { file_data: 'https://example.org/a' } },
      { type: 'document_url', document_url: 'https://example.org/a.pdf', document_name: 'n' },
      { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
      { type: 'hologram', data: 'AAAA' },
    ];
    expect(turns({ role: 'user', content })[0]?.parts).toEqual([
      { type: 'text', text: 'a', cache: {} },
      { type: 'media', kind: 'image', mediaType: 'image/png', source: { data: 'AAAA' }, detail: 'low' },
      { type: 'media', kind: 'image', mediaType: 'image/jpeg', source: { url: 'https://example.org/a.jpeg?b=.gif' } },
      { ...pdf, source: { data: 'JVBE' }, name: 'a.pdf' },
      { type: 'media', kind: 'document', mediaType: 'text/plain', source: { data: 'YQ==' }, name: 'a.txt' },
      { ...pdf, source: { url: 'https://example.org/a' } },
      { ...pdf, source: { url: 'https://example.org/a.pdf' }, name: 'n' },
      { type: 'media', kind: 'audio', mediaType: 'audio/mpeg', source: { data: 'AAAA' } },
      { type: 'opaque', family: 'chat', name: 'hologram', value: { type: 'hologram', data: 'AAAA' } },
    ]);
  });

  test('results of tools come first in the turn after their calls, by the name of the call', () => {
    const called = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{"a":1}' } });
    const [, assistant, results] = turns(
      user,
      { role: 'assistant', content: '', tool_calls: [called('1', 'f'), called('2', 'g')], refusal: null },
      { role: 'tool', tool_call_id: '1', content: 'r', cache_control: { type: 'ephemeral' } },
      user,
      { role: 'tool', tool_call_id: '2', content: [{ type: 'text', text: 's' }] },
    );
    expect(assistant?.parts).toEqual([
      { type: 'tool-call', id: '1', name: 'f', argumentsJson: '{"a":1}' },
      { type: 'tool-call', id: '2', name: 'g', argumentsJson: '{"a":1}' },
    ]);
    const text = (words: string) => [{ type: 'text', text: words }];
    expect(results?.parts).toEqual([
      { type: 'tool-result', id: '1', name: 'f', parts: text('r'), isError: false, cache: {} },
      { type: 'tool-result', id: '2', name: 'g', parts: text('s'), isError: false },
      { type: 'text', text: 'x' },
    ]);
  });

  test('calls of the old kind, answered by name', () => {
    const id = mintedId('messages[1].function_call');
    const [, call, result] = turns(
      user,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'r' },
    );
    expect(call?.parts).toMatchObject([{ type: 'tool-call', id, name: 'f' }]);
    expect(result?.parts).toMatchObject([{ type: 'tool-result', id, name: 'f' }]);
  });

  test('an answer that is sent back: reasoning without a proof, refusal, a mark on its text', () => {
    const [, first, , second] = turns(
      user,
      {
        role: 'assistant',
        content: 'a',
        reasoning_content: 'r',
        cache_control: { type: 'ephemeral' },
        annotations: [],
      },
      user,
      { role: 'assistant', content: [{ type: 'thinking', thinking: [{ type: 'text', text: 's' }] }], refusal: 'no' },
    );
    expect(first?.parts).toEqual([
      { type: 'reasoning', text: 'r' },
      { type: 'text', text: 'a', cache: {} },
    ]);
    expect(second?.parts).toEqual([
      { type: 'reasoning', text: 's' },
      { type: 'refusal', text: 'no' },
    ]);
  });

  test('what no other family has is dropped by name, with the result that belongs to it', () => {
    const { request, losses } = decode({
      messages: [
        { ...user, name: 'ada' },
        {
          role: 'assistant',
          content: 'a',
          audio: { id: 'x' },
          tool_calls: [{ id: '1', type: 'custom', custom: { input: 'x' } }],
        },
        { role: 'tool', tool_call_id: '1', content: 'r' },
      ],
    });
    expect(losses).toEqual(['messages[].name', 'messages[].audio', 'messages[].tool_calls[custom]']);
    expect(request.turns.map(({ parts }) => parts.length)).toEqual([1, 1]);
  });

  test.each([
    [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }, 'messages[0].content[0].file.file_id'],
    [
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'file:///x' } }] },
      'messages[0].content[0].image_url.url',
    ],
    [{ role: 'user', content: [{ type: 'image_url' }] }, 'messages[0].content[0].image_url.url'],
    [{ role: 'user', content: [{ text: 'x' }] }, 'messages[0].content[0]'],
    [{ role: 'user', content: [7] }, 'messages[0].content[0]'],
    [{ role: 'user', content: [{ type: 'text', text: 7 }] }, 'messages[0].content[0].text'],
    [
      { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'A' } }] },
      'messages[0].content[0].input_audio.format',
    ],
    [{ role: 'clown', content: 'x' }, 'messages[0].role'],
    [{ role: 'tool', content: 'x' }, 'messages[0].tool_call_id'],
    [{ role: 'function', content: 'x' }, 'messages[0].name'],
    [{ role: 'assistant', tool_calls: {} }, 'messages[0].tool_calls'],
    [{ role: 'assistant', tool_calls: [{ function: {} }] }, 'messages[0].tool_calls[0].function.name'],
    [{ role: 'assistant', content: '' }, 'messages'],
  ])('%j is refused, naming %s', (message, param) => {
    expect(() => decode({ messages: [message] })).toThrow(
      expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape,
    );
  });
});

describe('the rest of a request', () => {
  test.each<[object, Partial<ModelRequest>]>([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ max_tokens: 5, max_completion_tokens: 7 }, { maxOutputTokens: 7 }],
    [{ stop: 'a' }, { stop: ['a'] }],
    [{ stop: ['a', 'b', ''] }, { stop: ['a', 'b'] }],
    [{ stop: null }, { stop: [] }],
    [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
    [
      { temperature: 0, top_p: 0.5, top_k: 3, seed: 7, presence_penalty: 1, frequency_penalty: -1 },
      { temperature: 0, topP: 0.5, topK: 3, seed: 7, presencePenalty: 1, frequencyPenalty: -1 },
    ],
    [{ reasoning_effort: 'xhigh' }, { reasoning: { effort: 'xhigh' } }],
    [{ reasoning: { effort: 'none' } }, { reasoning: { effort: 'none' } }],
    [{ user: 'u', safety_identifier: 's' }, { user: 's' }],
    [{ user: 'u' }, { user: 'u' }],
    [
      { service_tier: 'flex', prompt_cache_key: 'k' },
      { serviceTier: 'flex', promptCacheKey: 'k' },
    ],
    [{ tool_choice: 'required' }, { toolChoice: { type: 'required' } }],
    [{ tool_choice: 'any' }, { toolChoice: { type: 'required' } }],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, { toolChoice: { type: 'tool', name: 'f' } }],
    [{ function_call: { name: 'f' } }, { toolChoice: { type: 'tool', name: 'f' } }],
    [{ parallel_tool_calls: false }, { parallelTools: false }],
    [{ functions: [{ name: 'f', parameters: {} }] }, { tools: [{ name: 'f', parameters: {} }] }],
    [
      { tools: [{ type: 'function', function: { name: 'f', description: 'd', strict: true }, cache_control: {} }] },
      { tools: [{ name: 'f', description: 'd', strict: true, cache: {} }] },
    ],
    [{ response_format: { type: 'json_object' } }, { format: { type: 'json' } }],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { a: 1 }, strict: true } } },
      { format: { type: 'json-schema', name: 'n', schema: { a: 1 }, strict: true } },
    ],
    [{ n: 1, store: false, logprobs: false, metadata: null, modalities: ['text'], gw: { remove: [] } }, {}],
  ])('%j', (more, expected) => {
    const { request, losses } = decode(more);
    expect(losses).toEqual([]);
    const plain = { model: 'p/m', stream: false, system: [], tools: [], stop: [], turns: request.turns };
    expect(request).toEqual({ ...plain, ...expected });
  });

  test.each([
    [
      { store: true, logprobs: true, top_logprobs: 2, logit_bias: { 1: 1 } },
      ['store', 'logprobs', 'top_logprobs', 'logit_bias'],
    ],
    [
      { metadata: { a: 'b' }, prediction: {}, web_search_options: {} },
      ['metadata', 'prediction', 'web_search_options'],
    ],
    [{ tools: [{ type: 'web_search' }, { type: 'custom', custom: {} }] }, ['tools[web_search]', 'tools[custom]']],
    [
      { tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } },
      ['tool_choice[allowed_tools]'],
    ],
    [{ response_format: { type: 'grammar' } }, ['response_format']],
    [{ reasoning: { effort: 'low', summary: 'auto' } }, ['reasoning.summary']],
  ])('%j loses %j', (more, expected) => {
    expect(decode(more).losses).toEqual(expected);
  });

  test.each([
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ reasoning_effort: 'extreme' }, 'reasoning_effort'],
    [{ reasoning: { effort: 7 } }, 'reasoning.effort'],
    [{ stop: [7] }, 'stop'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ tools: {} }, 'tools'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    [{ tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] }, 'tools[0].function.parameters'],
    [{ tool_choice: 7 }, 'tool_choice'],
    [{ response_format: 'json' }, 'response_format'],
    [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
  ])('%j is refused, naming %s', (more, param) => {
    expect(() => decode(more)).toThrow(expect.objectContaining({ name: 'BadRequestShape', param }) as BadRequestShape);
  });
});
