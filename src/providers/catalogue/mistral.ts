import { effortWords } from '#/vendors/efforts.ts';
import type { Row } from './row.ts';

/** Mistral's models, at Mistral and elsewhere. // wire-formats 2.1, 2.3 */
export const MISTRAL_ROWS: readonly Row[] = [
  {
    match: /(?:^|[./-])(?:mistral|ministral|magistral|codestral|devstral|pixtral|mixtral|voxtral)/,
    traits: { toolIds: 'nine', midSystem: false, prefill: false, audio: false },
  },
  { match: /voxtral/, traits: { audio: true } },
  { match: /codestral|open-mistral|mixtral|mistral-nemo|mistral-7b/, traits: { vision: false } },
  {
    vendors: ['mistral'],
    match: /mistral-large-4|(?:^|[/-])glm-/,
    traits: { reasoning: { control: 'effort', words: effortWords(['low', 'medium', 'high']), canDisable: false } },
  },
  { vendors: ['mistral'], match: /magistral/, traits: { adds: { prompt_mode: 'reasoning' } } },
  {
    vendors: ['scaleway'],
    match: /mistral-medium/,
    traits: { reasoning: { control: 'effort', words: effortWords(['none', 'high']), canDisable: true } },
  },
];
