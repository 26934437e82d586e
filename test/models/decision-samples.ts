import { json } from '../harness/answers.ts';
import type { Exchange } from '../harness/exchange.ts';

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

/** As a vendor of either shape answers what it was asked. */
export const vendorAnswers = {
  decisions: (exchange: Exchange): void | Promise<void> => {
    const { model, questions } = JSON.parse(exchange.request.body) as Record<string, unknown>;
    const answers = (questions as Record<string, Record<string, unknown>[]>[]).map(
      ({ type, name, choices, levels }) => ({
        type,
        name: name ?? null,
        ...(choices && { choice: choices[0]!['value'], confidence: 0.5 }),
        ...(choices && { probabilities: choices.map(({ value }, at) => ({ value, probability: at ? 0 : 1 })) }),
        ...(levels && { score: 0.25, confidence: 0.5 }),
        ...(levels && { probabilities: levels.map(({ label }, at) => ({ label, value: at, probability: 0.5 })) }),
        ...(!choices && !levels && { probability: 0.9 }),
      }),
    );
    return json({ model, answers, usage: USED })(exchange);
  },
  systemone: (exchange: Exchange): void | Promise<void> => {
    const { questions } = JSON.parse(exchange.request.body) as {
      questions: Record<string, { type: string; criteria: object }>;
    };
    const answers = Object.entries(questions).map(([id, { type, criteria }]) => {
      if (type === 'noul') return [id, { type, noul: 0.9 }];
      const names = type === 'choice' ? Object.keys(criteria) : (criteria as string[]).map((_, at) => String(at));
      const probabilities = Object.fromEntries(names.map((name, at) => [name, at ? 0 : 1]));
      return [
        id,
        { type, ...(type === 'choice' ? { choice: names[0] } : { score: 0.25 }), probabilities, confidence: 0.5 },
      ];
    });
    return json({
      model: 'd-1',
      answers: Object.fromEntries(answers) as object,
      usage: { input_tokens: 40, output_tokens: 0 },
    })(exchange);
  },
};
