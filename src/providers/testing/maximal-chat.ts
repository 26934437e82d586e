import type { JsonObject } from '#/wire/document/json.ts';

export const MESSAGES = [{ role: 'user', content: 'hi' }];
export const TOOLS = [{ type: 'function', function: { name: 'f' } }];

/** Everything a client might write, and an unknown member. */
export const MAXIMAL: JsonObject = {
  mystery: 1,
  messages: [
    { role: 'system', content: 'be kind' },
    { role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }], name: 'ann' },
    {
      role: 'assistant',
      content: null,
      refusal: null,
      reasoning_content: 'hm',
      encrypted_content: 'x',
      tool_calls: [],
    },
  ],
  audio: null,
  frequency_penalty: 1,
  logit_bias: { 5: 1 },
  logprobs: true,
  max_completion_tokens: 7,
  metadata: { a: 'b' },
  n: 1,
  parallel_tool_calls: true,
  prediction: null,
  presence_penalty: 1,
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  reasoning_effort: 'high',
  safety_identifier: 's',
  seed: 4,
  service_tier: 'default',
  stop: ['a', 'b'],
  store: true,
  stream: true,
  stream_options: { include_usage: true, include_obfuscation: true },
  temperature: 0.5,
  tools: TOOLS,
  top_logprobs: 2,
  top_p: 0.9,
  user: 'u',
  verbosity: 'low',
};

const COMMON = [
  'frequency_penalty',
  'messages',
  'model',
  'parallel_tool_calls',
  'presence_penalty',
  'stop',
  'stream',
  'temperature',
  'tools',
  'top_p',
];

export const plus = (...names: string[]) => [...COMMON, ...names];
export const without = (names: readonly string[], ...gone: string[]) => names.filter((name) => !gone.includes(name));
