/** `POST /v1/decisions`: by the local model, by vendors of either shape, and by any model that writes JSON. */

export const PREDICATE = { type: 'predicate', name: 'urgent', instructions: 'It is urgent.' };

export const CHOICE = {
  type: 'choice',
  name: 'team',
  instructions: 'Which team?',
  choices: [{ value: 'ada@corp.de', description: 'bills' }, { value: true }, { value: 'other' }],
};

export const SCORE = {
  type: 'score',
  instructions: 'How angry?',
  levels: [{ label: 'calm' }, { label: 'angry', description: 'of ada@corp.de' }],
};

export const QUESTIONS = [PREDICATE, CHOICE, SCORE];
export const PNG = 'data:image/png;base64,iVBORw0KGgo=';

export interface Decision {
  readonly model: string;
  readonly answers: readonly Record<string, unknown>[];
  readonly usage: Record<string, unknown>;
}

export const options = (count: number): object[] => Array.from({ length: count }, (_, at) => ({ value: `o${at}` }));

export const USED = {
  input_tokens: 40,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 40,
};

export const TOLD = [
  { type: 'predicate', name: 'urgent', probability: 0.9 },
  {
    type: 'choice',
    name: 'team',
    choice: 'ada@corp.de',
    confidence: 0.5,
    probabilities: [
      { value: 'ada@corp.de', probability: 1 },
      { value: true, probability: 0 },
      { value: 'other', probability: 0 },
    ],
  },
  { type: 'score', name: null, score: 0.25, confidence: 0.5 },
];
