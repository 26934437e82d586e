import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOADERS } from '../../inference/decide/loaders.ts';
import { ModelFault, readModelFolder } from '../../inference/decide/manifest.ts';
import type { TypedAnswer } from '../../inference/decide/typed.ts';
import type { TypedQuestion } from '../../inference/decide/typed-input.ts';
import { MODELS } from '../harness/document-engine.ts';
import { typed, writeModels, type ModelFolders } from '../harness/model-folders.ts';
import { onnxFile, type Graph } from '../harness/onnx.ts';

type Ask = (state: unknown, ...questions: readonly TypedQuestion[]) => Promise<readonly TypedAnswer[]>;

async function open(dir: string): Promise<Ask> {
  const answer = await LOADERS.typed(await readModelFolder(join(dir, 'typed'), 'typed'));
  return async (state, ...questions) => {
    const said = await answer({ state, questions });
    return (said as { readonly answers: readonly TypedAnswer[] }).answers;
  };
}

const noul = (instructions: string, yes?: string, no?: string): TypedQuestion => ({
  type: 'noul',
  instructions,
  options: [
    { name: 'true', ...(yes !== undefined && { description: yes }) },
    { name: 'false', ...(no !== undefined && { description: no }) },
  ],
});
const among = (type: 'choice' | 'score', instructions: string, ...names: readonly string[]): TypedQuestion => ({
  type,
  instructions,
  options: names.map((name) => ({ name })),
});
const sumOf = ({ probabilities }: TypedAnswer): number => probabilities.reduce((sum, p) => sum + p, 0);
const likeliest = ({ options }: TypedQuestion, { probabilities }: TypedAnswer): string | undefined =>
  options[probabilities.indexOf(Math.max(...probabilities))]?.name;

describe('a model that goes by the words of the state', () => {
  let folders: ModelFolders;
  let ask: Ask;
  beforeAll(async () => {
    folders = writeModels(['typed']);
    ask = await open(folders.dir);
  });
  afterAll(() => folders[Symbol.dispose]());

  test('answers each kind of question, in the order of its options', async () => {
    const which = among('choice', 'Which?', 'the moon', 'an invoice', 'a refund');
    const much = among('score', 'How much?', 'little', 'a refund');
    const answers = await ask(
      { mail: 'I want a refund.' },
      noul('wants a refund'),
      which,
      noul('is about the moon'),
      much,
    );
    expect(answers.map(sumOf)).toEqual(answers.map(() => expect.closeTo(1, 10) as number));
    expect(answers[0]?.probabilities[0]).toBeGreaterThan(0.6);
    expect(answers[2]?.probabilities[0]).toBeLessThan(0.4);
    expect(likeliest(which, answers[1] as TypedAnswer)).toBe('a refund');
    expect(likeliest(much, answers[3] as TypedAnswer)).toBe('a refund');
  });

  test('is as sure as its calibration says', async () => {
    const question = among('choice', 'Which?', 'a refund', 'something else');
    const [before] = await ask('I want a refund.', question);
    const confidence = { noul: [1, 0, 0, 0], choice: [0, 0, 0, 2], score: [1, 0, 0, 0] };
    folders.seal('typed', { calibration: { temperatures: { noul: 1, choice: 3, score: 1 }, confidence } });
    const [after] = await (await open(folders.dir))('I want a refund.', question);
    folders.seal('typed');
    const odds = ({ probabilities: [a = 0, b = 0] }: TypedAnswer): number => Math.log(a / b);
    expect(before?.answer_confidence).toBeCloseTo(Math.max(...(before?.probabilities ?? [])), 6);
    expect(odds(after as TypedAnswer)).toBeCloseTo(odds(before as TypedAnswer) / 3, 5);
    expect(after?.answer_confidence).toBeCloseTo(1 / (1 + Math.exp(-2)), 6);
  });

  const spoilt: readonly (readonly [string, object, string])[] = [
    ['tells no calibration', { calibration: undefined }, 'must have a calibration'],
    [
      'has a calibration for some kinds',
      { calibration: { temperatures: { noul: 1 }, confidence: {} } },
      'must have a calibration',
    ],
    ['tells no limits of its own', { limits: { tokens: 128 } }, 'must have limits'],
    ['has other labels', { labels: ['noul', 'choice', 'rank'] }, 'the label score is unknown'],
    ['has a label too many', { labels: ['noul', 'choice', 'score', 'rank'] }, 'logits must have 4 columns'],
    ['takes hashed words', { tokenizer: { type: 'hashed-words', lists: 'model.onnx' } }, 'must be a piece tokenizer'],
    [
      'has another tokenizer',
      { tokenizer: { type: 'huggingface', file: 'model.onnx' } },
      'the tokenizer file is not a tokenizer',
    ],
  ];
  test.each(spoilt)('is refused where it %s', async (_what, more, fault) => {
    using broken = writeModels(['typed']);
    broken.seal('typed', more);
    const opened = open(broken.dir);
    await expect(opened).rejects.toThrow(fault);
    await expect(opened).rejects.toBeInstanceOf(ModelFault);
  });

  test('may be of another size, with columns in another order', async () => {
    using larger = writeModels(['typed']);
    writeFileSync(join(larger.dir, 'typed/model.onnx'), onnxFile(typed(5, 12)));
    const limits = { tokens: 512, windows: 2, row: 64, question: 2048, questions: 4000 };
    const tokenizer = { type: 'huggingface', file: 'tokenizer.json', pad: 3 };
    larger.seal('typed', { labels: ['score', 'noul', 'choice'], limits, tokenizer });
    const other = await open(larger.dir);
    const which = among('choice', 'Which? '.repeat(200), 'the moon', 'a refund');
    const [said, much] = await other('I want a refund.', which, among('score', 'How much?', 'little', 'a refund'));
    expect(likeliest(which, said as TypedAnswer)).toBe('a refund');
    expect(sumOf(much as TypedAnswer)).toBeCloseTo(1, 10);
    await expect(other('x', noul('it '.repeat(2048)))).rejects.toMatchObject({ name: 'TooLong', question: 0 });
  });

  const shaped = typed();
  const misfits: readonly (readonly [string, Graph, string])[] = [
    [
      'takes more facts than there are',
      {
        ...shaped,
        inputs: { ...shaped.inputs, features: { type: 'float32', shape: [1, null, 5] } },
        weights: { ...shaped.weights, byWords: { shape: [5, 3], values: Array<number>(15).fill(0) } },
      },
      'a row has 4 facts, but the graph takes 5',
    ],
    [
      'has an input of its own',
      { ...shaped, inputs: { ...shaped.inputs, more: { type: 'float32', shape: [1] } } },
      "the graph's input more is unknown",
    ],
    [
      'reads a state otherwise than it makes one',
      { ...shaped, inputs: { ...shaped.inputs, state: { type: 'float32', shape: [1, null, 7] } } },
      'its sizes differ from the manifest',
    ],
  ];
  test.each(misfits)('is refused where its graph %s', async (_what, graph, fault) => {
    using broken = writeModels(['typed']);
    writeFileSync(join(broken.dir, 'typed/model.onnx'), onnxFile(graph));
    broken.seal('typed');
    const opened = open(broken.dir);
    await expect(opened).rejects.toThrow(fault);
    await expect(opened).rejects.toBeInstanceOf(ModelFault);
  });

  test('is refused where its graph is another', async () => {
    using broken = writeModels(['typed']);
    const shape = { type: 'float32', shape: [1] } as const;
    const nodes = [{ op: 'Identity', inputs: ['a'], output: 'logits' }];
    const graph = onnxFile({ inputs: { a: shape }, outputs: { logits: shape }, weights: {}, nodes });
    writeFileSync(join(broken.dir, 'typed/model.onnx'), graph);
    broken.seal('typed');
    await expect(open(broken.dir)).rejects.toThrow('the graph has no output first');
  });
});

const MAIL = {
  subject: 'Invoice 4711',
  message:
    'You charged my card twice for the same order. Please give me my money back. This is the third time I write to you!',
};
const TOPIC = among(
  'choice',
  'What is the message about?',
  'a billing problem',
  'a job application',
  'the weather',
  'a recipe',
);

describe('the model that is checked in', () => {
  let ask: Ask;
  beforeAll(async () => {
    ask = await open(MODELS);
  });

  test('answers a question the same, whatever else is asked', async () => {
    const questions = [
      noul('The customer wants a refund.'),
      TOPIC,
      noul('[x] ' + 'long '.repeat(200)),
      among('score', 'Mood?', 'angry', 'glad'),
    ];
    const together = await ask(MAIL, ...questions);
    for (const [at, question] of questions.entries()) {
      const [alone] = await ask(MAIL, question);
      for (const [place, p] of (alone?.probabilities ?? []).entries())
        expect(together[at]?.probabilities[place]).toBeCloseTo(p, 5);
      expect(alone?.answer_confidence).toBeCloseTo(together[at]?.answer_confidence ?? 0, 5);
      expect(sumOf(alone as TypedAnswer)).toBeCloseTo(1, 10);
      expect(alone?.answer_confidence).toBeGreaterThan(0);
      expect(alone?.answer_confidence).toBeLessThan(1);
    }
  });

  test('goes by options, not by their order', async () => {
    const [forth] = await ask(MAIL, TOPIC);
    const [back] = await ask(MAIL, { ...TOPIC, options: TOPIC.options.toReversed() });
    for (const [at, p] of (forth?.probabilities ?? []).entries())
      expect(back?.probabilities.toReversed()[at]).toBeCloseTo(p, 3);
  });

  test('makes one of a proposition and its denial', async () => {
    const told = noul('The customer wants a refund.', 'money is asked back', 'nothing is asked');
    const denial = noul('It is not true that the customer wants a refund.', 'nothing is asked', 'money is asked back');
    const [holds, doesNot, notNot] = await ask(MAIL, told, denial, {
      ...told,
      instructions: `It is false that ${denial.instructions}`,
    });
    expect(doesNot?.probabilities.toReversed()).toEqual(holds?.probabilities);
    expect(doesNot?.answer_confidence).toBe(holds?.answer_confidence);
    expect(notNot).toEqual(holds);
  });

  test('reads what there is to read, and no more', async () => {
    const hostile = [
      '',
      'x'.repeat(131_000),
      '😀'.repeat(30_000),
      'supercalifragilistic '.repeat(6000),
      { a: { b: { c: [[], {}, null] } } },
      [1, [2, [3]]],
      '\u0000\ud800\uffff[SEP]',
    ];
    for (const state of hostile) {
      const answers = await ask(state, noul('It is urgent.', 'it burns', 'it can wait'), TOPIC);
      for (const answer of answers) expect(sumOf(answer)).toBeCloseTo(1, 10);
    }
    const words = Array.from({ length: 384 }, (_, index) => `word${index % 40}`).join(' ');
    const [read] = await ask(words, TOPIC);
    const [more] = await ask(`${words} the invoice was wrong, it is a billing problem`, TOPIC);
    expect(more).toEqual(read);
  });
});
