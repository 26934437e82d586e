import type { CompatibleVendor } from './vendor.ts';

/** Any server that speaks a protocol: vLLM, Ollama, a gateway of the customer. It gets the request as it was written. */
export const custom: CompatibleVendor<'custom'> = {
  id: 'custom',
  name: 'Any server',
  protocol: 'custom',
  families: ['chat', 'completions', 'embeddings', 'moderations', 'images', 'ocr', 'rerank', 'messages'],
  hosts: 'of its customers',
  credentials: ['api_key'],
  promptCache: 'passthrough',
  traits: { customTools: true },
  rules: {
    untouched: true,
    chat: { streamOptions: 'any' },
  },
  prices: { litellm: [], modelsDev: [] },
  sample: {
    comment: [
      "Your own server that speaks OpenAI's format (vLLM, Ollama) gets requests unchanged;",
      "with protocol: Messages it is called like Anthropic's API. Its models need prices in a PriceBook.",
    ],
    slug: 'vllm',
    jurisdiction: 'LOCAL',
    before: [
      'protocol: Custom',
      'endpoint: { url: http://vllm.models.svc.cluster.local:8000/v1, allowInsecure: true }',
    ],
  },
};
