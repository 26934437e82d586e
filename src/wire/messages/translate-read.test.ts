import { describe, expect, test } from 'vitest';
import { said, answered, text, decode, refused } from './testing/requests.ts';

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
