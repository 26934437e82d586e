import type { Kind } from './kind.ts';

const SECRET = 'key-of-the-matrix';

/** What vendors of the chat family have in common here; each says what is different. */
function chatVendor(name: string, own: Partial<Kind> & Pick<Kind, 'model'>): Kind {
  return {
    name,
    base: '/v1',
    spec: { vendor: name },
    credential: { type: 'APIKey', secret: SECRET },
    upstream: own.model,
    exit: 'chat',
    native: ['chat'],
    path: (family) => (family === 'responses' ? '/v1/responses' : '/v1/chat/completions'),
    framing: 'sse',
    auth: ['authorization', new RegExp(`^Bearer ${SECRET}$`)],
    inBody: ['model', 'stream'],
    effort: undefined,
    nativeEffort: {},
    json: 'schema',
    images: true,
    documents: false,
    stops: true,
    systemRole: 'system',
    ceiling: 'max_tokens',
    never: ['cache_control', 'prompt_cache_key', 'metadata', 'store'],
    usage: 'openai',
    refusal: 'filter',
    ...own,
  };
}

const HIGH = { reasoning_effort: 'high' };
const OPENAI = {
  documents: true,
  ceiling: 'max_completion_tokens',
  systemRole: 'developer',
  effort: HIGH,
  nativeEffort: HIGH,
  refusal: 'words',
  never: ['max_tokens'],
} as const;

const AZURE_SECRET = 'azure-key';

/** Vendors that speak OpenAI's families. */
export const CHAT_VENDORS: readonly Kind[] = [
  chatVendor('openai', {
    ...OPENAI,
    model: 'gpt-5.4',
    native: ['chat', 'responses'],
    // Its reasoning models take no stop strings. // wire-formats 2.5
    stops: false,
  }),
  chatVendor('openai-codex', {
    ...OPENAI,
    model: 'gpt-5.1-codex',
    spec: { vendor: 'openai' },
    exit: 'responses',
    native: ['responses'],
    stops: false,
    effort: { effort: 'high' },
    nativeEffort: { effort: 'high' },
    never: ['max_tokens', 'max_completion_tokens', 'messages', 'response_format', 'stream_options', 'stop'],
  }),
  chatVendor('azure', {
    model: 'gpt-4.1',
    upstream: 'prod-chat',
    spec: { vendor: 'azure', models: [{ id: 'gpt-4.1', upstreamId: 'prod-chat' }] },
    base: '',
    native: ['chat', 'responses'],
    path: (family) => `/openai/v1/${family === 'responses' ? 'responses' : 'chat/completions'}`,
    credential: { type: 'APIKey', secret: AZURE_SECRET },
    auth: ['api-key', new RegExp(`^${AZURE_SECRET}$`)],
    documents: true,
    ceiling: 'max_completion_tokens',
    never: ['max_tokens'],
  }),
  chatVendor('azure-classic', {
    model: 'gpt-4.1',
    upstream: 'old-chat',
    spec: { vendor: 'azure', apiVersion: '2024-10-21', models: [{ id: 'gpt-4.1', upstreamId: 'old-chat' }] },
    base: '',
    path: () => '/openai/deployments/old-chat/chat/completions?api-version=2024-10-21',
    credential: { type: 'AzureAD', secret: '{"tenantId":"t","clientId":"c","clientSecret":"s","tokenUrl":"TOKENS"}' },
    auth: ['authorization', /^Bearer token-of-azure$/],
    documents: true,
    ceiling: 'max_completion_tokens',
    never: ['max_tokens'],
  }),
  chatVendor('mistral', {
    model: 'mistral-large-4',
    effort: HIGH,
    nativeEffort: HIGH,
    nine: true,
    never: ['stream_options', 'max_completion_tokens', 'user', 'store', 'seed', 'cache_control', 'prompt_cache_key'],
    usage: 'mistral',
  }),
  chatVendor('deepseek', {
    model: 'deepseek-chat',
    effort: HIGH,
    nativeEffort: HIGH,
    json: 'object',
    images: false,
    usage: 'deepseek',
  }),
  chatVendor('xai', {
    model: 'grok-4',
    native: ['chat', 'responses'],
    // Reasoning models there refuse them. // wire-formats 1.5
    stops: false,
    never: ['stop', 'presence_penalty', 'frequency_penalty', 'reasoning_effort'],
    usage: 'xai',
  }),
  chatVendor('groq', {
    model: 'openai/gpt-oss-120b',
    native: ['chat', 'responses'],
    effort: HIGH,
    nativeEffort: HIGH,
    images: false,
    thoughts: 'reasoning',
    never: ['prompt_cache_key', 'cache_control', 'logprobs', 'logit_bias', 'n'],
    usage: 'groq',
  }),
  chatVendor('together', { model: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8', thoughts: 'reasoning' }),
  chatVendor('fireworks', {
    model: 'accounts/fireworks/models/kimi-k2',
    native: ['chat', 'responses'],
    effort: HIGH,
    nativeEffort: HIGH,
  }),
  chatVendor('cerebras', {
    model: 'gpt-oss-120b',
    effort: HIGH,
    nativeEffort: HIGH,
    images: false,
    thoughts: 'reasoning',
  }),
  chatVendor('scaleway', {
    model: 'mistral-medium-3.5',
    native: ['chat', 'responses'],
    effort: HIGH,
    nativeEffort: HIGH,
    nine: true,
    never: [
      'metadata',
      'modalities',
      'prediction',
      'prompt_cache_key',
      'user',
      'safety_identifier',
      'service_tier',
      'store',
    ],
  }),
  chatVendor('ovhcloud', {
    model: 'Qwen3-32B',
    never: ['parallel_tool_calls', 'stream_options', 'prompt_cache_key'],
    usage: 'silent',
  }),
  chatVendor('ionos', { model: 'meta-llama/Llama-3.3-70B-Instruct', images: false }),
  chatVendor('nebius', { model: 'zai-org/GLM-4.6' }),
  chatVendor('custom', {
    model: 'house-model',
    spec: { vendor: 'custom' },
    nativeEffort: HIGH,
    untouched: true,
    never: [],
  }),
];
