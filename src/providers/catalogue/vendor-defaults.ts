import type { VendorId } from '#/config/snapshot.ts';
import type { ReasoningTraits, Traits } from '#/wire/hub/traits.ts';
import { NEW_CLAUDE } from './claude.ts';
import { effortWords } from './row.ts';

const EVERY_EFFORT: ReasoningTraits = {
  control: 'effort',
  words: effortWords(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
  canDisable: true,
};

const OPENAI: Partial<Traits> = {
  customTools: true,
  ceilingName: 'max_completion_tokens',
  documents: true,
  reasoning: EVERY_EFFORT,
};

/** Hosts of open models: they take what vLLM takes. */
const OPEN_MODELS: Partial<Traits> = { audio: false };

/** What holds for a vendor's models of which nothing else is known. */
export const VENDOR_TRAITS: Readonly<Partial<Record<VendorId, Partial<Traits>>>> = {
  openai: OPENAI,
  azure: OPENAI,
  // It gets what was written.
  custom: { customTools: true },
  anthropic: NEW_CLAUDE,
  bedrock: {
    remoteMedia: false,
    audio: false,
    documents: true,
    midSystem: false,
    prefill: false,
    json: 'tool',
    // Converse itself takes no higher one, whichever the model.
    maxTemperature: 1,
  },
  vertex: { remoteMedia: false },
  gemini: { remoteMedia: false },
  mistral: { toolIds: 'nine', midSystem: false, prefill: false, audio: false, maxTemperature: 1.5 },
  deepseek: { json: 'object', audio: false, maxStops: 16 },
  groq: OPEN_MODELS,
  together: OPEN_MODELS,
  fireworks: {
    ...OPEN_MODELS,
    reasoning: { control: 'effort', words: effortWords(['none', 'low', 'medium', 'high']), canDisable: true },
  },
  cerebras: OPEN_MODELS,
  scaleway: OPEN_MODELS,
  ovhcloud: OPEN_MODELS,
  ionos: OPEN_MODELS,
  nebius: OPEN_MODELS,
};
