import type { Traits } from '#/wire/hub/traits.ts';
import { effortWords } from './efforts.ts';
import type { Vendor } from './vendor.ts';

/** What holds for Claude of which nothing is known but that it is one. */
export const NEW_CLAUDE: Partial<Traits> = {
  claude: true,
  maxOutputTokens: 128_000,
  vision: true,
  audio: false,
  documents: true,
  remoteMedia: true,
  reasoning: { control: 'adaptive', words: effortWords(['low', 'medium', 'high', 'xhigh', 'max']), canDisable: true },
  sampling: 'fixed',
  maxTemperature: 1,
  maxStops: 64,
  json: 'schema',
  forcedTools: true,
  midSystem: false,
  prefill: false,
  cacheMarks: 'hour',
};

export const anthropic: Vendor<'anthropic'> = {
  id: 'anthropic',
  name: 'Anthropic',
  protocol: 'messages',
  families: ['messages'],
  address: 'https://api.anthropic.com/v1',
  hosts: { 'api.anthropic.com': 'US' },
  credentials: ['api_key'],
  promptCache: 'explicit_markers',
  traits: NEW_CLAUDE,
  models: [
    ...['claude-fable-5-2', 'claude-fable-5-1', 'claude-fable-5', 'claude-mythos-5-2', 'claude-mythos-5-1'],
    ...['claude-mythos-5', 'claude-opus-5-5', 'claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6'],
    ...['claude-opus-4-5', 'claude-sonnet-5-5', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-sonnet-4-5'],
    ...['claude-haiku-5-5', 'claude-haiku-4-5'],
  ],
  prices: { bundled: 'anthropic', litellm: [['anthropic', '']], modelsDev: ['anthropic'] },
  environment: 'ANTHROPIC_API_KEY',
  sample: {},
};
