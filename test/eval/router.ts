import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { decisionOf } from '#/wire/systemone/decision.ts';
import type { RouterAnswer } from '../../inference/decide/router.ts';
import type { RouterState } from '../../inference/decide/router-input.ts';
import { folded, wordsOf } from '../../inference/decide/words.ts';
import { calibrationOf, f1Of, macroF1Of, topOf, type Judged } from './calibration.ts';
import { openModel, type Evaluation, type Places, type Table } from './evaluation.ts';
import { rollOfId } from './held-out.ts';
import { rounded } from './score.ts';
import { timed } from './timing.ts';

interface Prompt {
  readonly id: string;
  readonly lang: string;
  readonly state: RouterState;
  readonly task: string;
  readonly reasoning: number;
  readonly complexity: number;
}

type Part = 'train' | 'calibrate' | 'test';
type Head = 'task' | 'reasoning' | 'complexity';

const TASKS = ['code', 'writing', 'translation', 'extraction', 'document', 'support', 'smalltalk', 'action'];
const HEADS: Readonly<Record<Head, { readonly size: number; readonly truth: (prompt: Prompt) => number }>> = {
  task: { size: TASKS.length, truth: ({ task }) => TASKS.indexOf(task) },
  reasoning: { size: 2, truth: ({ reasoning }) => reasoning },
  complexity: { size: 4, truth: ({ complexity }) => complexity },
};

const NO_COST = { p50: '', p95: '', MB: '' };

/** What prompts ask for, on the ones that training leaves out, beside the most frequent answer and a bag of words. */
export async function evaluateRouter(places: Places): Promise<Evaluation> {
  const { answer, about } = await openModel('router', places);
  const prompts = readPrompts(places);
  const test = prompts.filter((prompt) => partOf(prompt) === 'test');
  const train = prompts.filter((prompt) => partOf(prompt) === 'train');
  const answers: RouterAnswer[] = [];
  for (const { state } of test) answers.push((await answer(state)) as RouterAnswer);
  const heads: Table['rows'][number][] = [];
  for (const head of ['task', 'reasoning', 'complexity'] as const) {
    const { size, truth } = HEADS[head];
    const bag = bagOfWords(train, size, truth);
    const judged = test.map((prompt, at) => ({
      probabilities: probabilitiesOf(head, answers[at]),
      truth: truth(prompt),
    }));
    heads.push(
      row(head, 'model', judged),
      row(
        head,
        'bag of words',
        test.map((prompt) => ({ probabilities: bag(prompt), truth: truth(prompt) })),
      ),
      row(
        head,
        'most frequent',
        test.map((prompt) => ({ probabilities: shares(train, size, truth), truth: truth(prompt) })),
      ),
    );
  }
  const times = await latencies(test, answer);
  const cost = { p50: times[0]?.['p50'] ?? '', p95: times[0]?.['p95'] ?? '', MB: about['folderMB'] ?? '' };
  return {
    about: { ...about, prompts: test.length },
    tables: [
      { title: 'In short', rows: heads.map((one, at) => ({ ...one, ...(at === 0 ? cost : NO_COST) })) },
      { title: 'By language', rows: grouped(test, answers, ({ lang }) => lang) },
      { title: 'By task', rows: grouped(test, answers, ({ task }) => task) },
      { title: 'F1 of tasks, by language', rows: taskRows(test, answers) },
      { title: 'What `decision` makes of it', rows: decisionRows(test, answers) },
      { title: 'Milliseconds', rows: times },
    ],
  };
}

function readPrompts({ data, own }: Places): readonly Prompt[] {
  const gold = gunzipSync(readFileSync(path.join(data, 'router/router_gold.jsonl.gz'))).toString();
  const ours = globSync('prompts.*.jsonl', { cwd: own }).toSorted();
  const files = [gold, ...ours.map((file) => readFileSync(path.join(own, file), 'utf8'))];
  return files.flatMap((text) =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Prompt),
  );
}

/** As `part_of` in inference/training/router/data.py: by the number that an id ends with. */
function partOf({ id }: Prompt): Part {
  const roll = rollOfId(id);
  return roll < 15 ? 'test' : roll < 25 ? 'calibrate' : 'train';
}

function probabilitiesOf(head: Head, answer: RouterAnswer | undefined): readonly number[] {
  if (!answer) return [];
  if (head === 'task') return TASKS.map((task) => answer.task[task] ?? 0);
  return head === 'complexity' ? answer.complexity : [1 - answer.reasoning, answer.reasoning];
}

function row(head: Head, by: string, judged: readonly Judged[]): Table['rows'][number] {
  const { accuracy = 0, ece = 0, brier = 0, nll = 0, auc } = calibrationOf(judged);
  const off = judged.map(({ probabilities, truth }) => Math.abs(topOf(probabilities) - truth));
  return {
    head,
    by,
    accuracy,
    f1: macroF1Of(judged),
    ece,
    brier,
    nll,
    auc: auc ?? '',
    withinOne: head === 'complexity' ? rounded(off.filter((steps) => steps <= 1).length / off.length) : '',
  };
}

function shares(train: readonly Prompt[], size: number, truth: (prompt: Prompt) => number): readonly number[] {
  const counts = Array<number>(size).fill(0);
  for (const prompt of train) counts[truth(prompt)] = (counts[truth(prompt)] ?? 0) + 1;
  return counts.map((count) => count / train.length);
}

/** Naive Bayes over the words of a request, each counted once. */
function bagOfWords(
  train: readonly Prompt[],
  size: number,
  truth: (prompt: Prompt) => number,
): (prompt: Prompt) => readonly number[] {
  const words = ({ state: { request } }: Prompt): Set<string> =>
    new Set(wordsOf(request).map(({ start, end }) => folded(request.slice(start, end))));
  const priors = shares(train, size, truth);
  const seen = new Map<string, number[]>();
  for (const prompt of train) {
    for (const word of words(prompt)) {
      const counts = seen.get(word) ?? Array<number>(size).fill(0);
      counts[truth(prompt)] = (counts[truth(prompt)] ?? 0) + 1;
      seen.set(word, counts);
    }
  }
  return (prompt) => {
    const logs = priors.map((share) => Math.log(share));
    for (const word of words(prompt)) {
      const counts = seen.get(word);
      if (!counts) continue;
      for (const option of logs.keys()) {
        const common = counts.reduce((sum, count) => sum + count, 0) / train.length;
        const rate = ((counts[option] ?? 0) + common) / ((priors[option] ?? 0) * train.length + 1);
        logs[option] = (logs[option] ?? 0) + Math.log(rate);
      }
    }
    const most = Math.max(...logs);
    const raised = logs.map((log) => Math.exp(log - most));
    const sum = raised.reduce((total, each) => total + each, 0);
    return raised.map((each) => each / sum);
  };
}

function grouped(
  test: readonly Prompt[],
  answers: readonly RouterAnswer[],
  group: (prompt: Prompt) => string,
): Table['rows'] {
  const groups = Map.groupBy(test.keys(), (at) => group(test[at] as Prompt));
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, members]) => {
      const right = (head: Head): number => {
        const hits = members.filter((at) => {
          const prompt = test[at];
          return prompt && topOf(probabilitiesOf(head, answers[at])) === HEADS[head].truth(prompt);
        });
        return rounded(hits.length / members.length);
      };
      return {
        group: name,
        prompts: members.length,
        task: right('task'),
        reasoning: right('reasoning'),
        complexity: right('complexity'),
      };
    });
}

function taskRows(test: readonly Prompt[], answers: readonly RouterAnswer[]): Table['rows'] {
  const judged = test.map((prompt, at) => ({
    language: prompt.lang,
    probabilities: probabilitiesOf('task', answers[at]),
    truth: HEADS.task.truth(prompt),
  }));
  const rowOf = (language: string, of: readonly Judged[]): Table['rows'][number] => ({
    language,
    mean: macroF1Of(of),
    ...Object.fromEntries(TASKS.map((task, option) => [task, f1Of(of, option)])),
  });
  const languages = [...Map.groupBy(judged, ({ language }) => language)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [rowOf('all', judged), ...languages.map(([language, of]) => rowOf(language, of))];
}

/** How many prompts are told where to go, and how many of those rightly; `sentTooLow` is what costs answers. */
function decisionRows(test: readonly Prompt[], answers: readonly RouterAnswer[]): Table['rows'] {
  const told = test.flatMap((prompt, at) => {
    const answer = answers[at];
    const decision = answer ? decisionOf(answer) : null;
    return decision ? [{ prompt, decision }] : [];
  });
  const share = (of: (one: (typeof told)[number]) => boolean): number => rounded(told.filter(of).length / told.length);
  return [
    {
      what: 'decision',
      told: rounded(told.length / test.length),
      routeRight: share(({ prompt, decision }) => routeOf(prompt) === decision.route),
      demandRight: share(({ prompt, decision }) => usageBoundsOf(prompt) === decision.demand),
      sentTooLow: share(({ prompt, decision }) => ROUTES.indexOf(decision.route) < ROUTES.indexOf(routeOf(prompt))),
    },
  ];
}

const ROUTES = ['fast', 'balanced', 'reasoning'];

function usageBoundsOf({ complexity }: Prompt): string {
  return complexity <= 1 ? 'low' : complexity === 2 ? 'medium' : 'high';
}

function routeOf(prompt: Prompt): string {
  if (prompt.reasoning === 1) return 'reasoning';
  return usageBoundsOf(prompt) === 'low' ? 'fast' : 'balanced';
}

async function latencies(test: readonly Prompt[], answer: (input: object) => Promise<object>): Promise<Table['rows']> {
  const long = test.map(({ state }) => ({ ...state, request: `${state.request}\n`.repeat(40) }));
  const some = test.filter((_, at) => at % 3 === 0);
  return [
    await timed(
      'prompts as they are',
      some.map(
        ({ state }) =>
          () =>
            answer(state),
      ),
    ),
    await timed(
      'prompts of hundreds of words',
      long.slice(0, 100).map((state) => () => answer(state)),
    ),
  ];
}
