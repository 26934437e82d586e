import type { ReasoningTraits } from '#/wire/hub/traits.ts';
import { levelWords } from '#/vendors/efforts.ts';
import type { Row } from './row.ts';

const budget = (least: number, most: number, canDisable: boolean): ReasoningTraits => ({
  control: 'budget',
  words: {},
  budget: {
    shares: { minimal: 0.02, low: 0.1, medium: 0.3, high: 0.6, xhigh: 0.6, max: 0.6 },
    of: 65_536,
    least,
    most,
  },
  canDisable,
});

const level = (...known: Parameters<typeof levelWords>[0]): ReasoningTraits => ({
  control: 'level',
  words: levelWords(known),
  canDisable: false,
});

/** Gemini, at both of Google's addresses. // wire-formats 2.1, 2.3 */
export const GOOGLE_ROWS: readonly Row[] = [
  {
    match: /(?:^|\/)gemini-/,
    traits: {
      maxOutputTokens: 65_536,
      vision: true,
      audio: true,
      documents: true,
      remoteMedia: false,
      reasoning: level('minimal', 'low', 'medium', 'high'),
      sampling: 'free',
      maxTemperature: 2,
      maxStops: 5,
      json: 'schema',
      forcedTools: true,
      midSystem: false,
      prefill: true,
    },
  },
  {
    match: /(?:^|\/)gemini-(?:1|2\.0)/,
    traits: { maxOutputTokens: 8192, reasoning: { control: 'none', words: {}, canDisable: true } },
  },
  { match: /(?:^|\/)gemini-2\.5/, traits: { reasoning: budget(0, 24_576, true) } },
  { match: /(?:^|\/)gemini-2\.5-pro/, traits: { reasoning: budget(128, 32_768, false) } },
  {
    vendors: ['gemini'],
    match: /(?:^|\/)gemini-2\.5/,
    traits: { rejects: new Set(['presencePenalty', 'frequencyPenalty']) },
  },
  { vendors: ['vertex'], match: /(?:^|\/)gemini-/, traits: { rejects: new Set(['serviceTier']) } },
  { match: /(?:^|\/)gemini-[34](?:\.\d)?-pro/, traits: { reasoning: level('low', 'medium', 'high') } },
  {
    match: /(?:^|\/)gemini-3-pro/,
    traits: { reasoning: { ...level('low', 'high'), words: { ...levelWords(['low', 'high']), medium: 'HIGH' } } },
  },
  { match: /(?:^|\/)gemini-4-hydrogen/, traits: { reasoning: level('low', 'medium', 'high', 'xhigh') } },
];
