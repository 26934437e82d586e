import { describe, expect, test } from 'vitest';
import { decode, encode, refusal } from './testing/requests.ts';

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
