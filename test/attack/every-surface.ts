import { chat, json } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';

const USAGE = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };

const DECIDED = { input_tokens: 3, output_tokens: 0, total_tokens: 3 };

/** Says yes to all, and chooses the first. */
const decided: Answer = (exchange) => {
  const { questions } = JSON.parse(exchange.request.body) as { questions: Record<string, { criteria?: object }> };
  const answers = Object.entries(questions).map(([id, { criteria = {} }]) => {
    const [first = ''] = Object.keys(criteria);
    return [id, { noul: 1, choice: first, score: 0, probabilities: { [first]: 1 } }];
  });
  return json({ model: 'm', answers: Object.fromEntries(answers) as object, usage: DECIDED })(exchange);
};

/** A provider that answers every operation of the surfaces, in the words of each. */
export function everySurface(content = 'Hello.'): Answer {
  const talk = chat({ content });
  const completion = { id: 'c', object: 'text_completion', created: 1, model: 'm', usage: USAGE };
  const answers: readonly (readonly [end: string, answer: Answer])[] = [
    ['/chat/completions', talk],
    ['/completions', json({ ...completion, choices: [{ index: 0, text: content, finish_reason: 'stop' }] })],
    ['/embeddings', json({ object: 'list', model: 'm', data: [{ index: 0, embedding: [0.5] }], usage: USAGE })],
    ['/transcriptions', json({ text: content, usage: { type: 'duration', seconds: 3 } })],
    ['/systemone', decided],
    ['/decisions', json({ model: 'm', answers: [{ type: 'predicate', name: null, probability: 1 }], usage: DECIDED })],
    ['/videos', json({ id: 'video_1', object: 'video', seconds: '4' })],
  ];
  const other = json({ id: 'x', created: 1, data: [{ b64_json: 'QQ==' }] });
  return (exchange) => {
    const path = exchange.request.path.split('?')[0] ?? '';
    const [, answer] = answers.find(([end]) => path.endsWith(end)) ?? ['', other];
    return answer(exchange);
  };
}
