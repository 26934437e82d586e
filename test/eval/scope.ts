import { guardScope } from '#/inspect/scope/scope-guard.ts';
import type { LocalModels } from '#/ports/local-models.ts';
import { userTextIn } from '../../src/inspect/user-text.ts';
import type { Answerer } from '../../inference/decide/loaders.ts';
import type { TypedAnswer } from '../../inference/decide/typed.ts';
import { wordsBeside } from '../../inference/decide/typed-input.ts';
import { aucOf, calibrationOf } from './calibration.ts';
import { openModel, type Evaluation, type Places, type Table } from './evaluation.ts';
import { learned } from './held-out.ts';
import { casesOf, promptsOf, readWritten, unlearnedIn, type Case } from './scope-cases.ts';
import { rounded, scoreOf } from './score.ts';
import { timed } from './timing.ts';

interface Judged extends Case {
  /** How likely it is to be inside, as the guard says: to two digits. */
  readonly inside: number;
  /** Whether the guard takes it for that. */
  readonly passes: boolean;
  /** The share of the purpose's words that it has. */
  readonly words: number;
}

type Row = Table['rows'][number];

/**
 * The scope guard as it is, on what was written to judge it (`test/eval/scope`, which training does not read) beside
 * purposes that training does not have, and on prompts that training left out. The baseline is words in common, with the
 * threshold that is best for these texts. Throws where one of the texts is in the data that models are trained on.
 */
export async function evaluateScope(places: Places): Promise<Evaluation> {
  const { answer, about } = await openModel('typed', places);
  const written = readWritten();
  const known = learned(unlearnedIn(written), places);
  if (known.length > 0) throw new Error(`training may read what the scope guard is judged by: ${known.join(' | ')}`);
  const guard = guardWith(answer);
  const judged: Judged[] = [];
  for (const one of [...casesOf(written), ...promptsOf(places)]) judged.push(await judge(guard, one));
  const unseen = judged.filter(({ group }) => group !== 'programming' && group !== 'in English');
  const times = await latencies(guard, unseen);
  const model = { ...scoreRow('model', unseen), p50: times[0]?.['p50'] ?? '', p95: times[0]?.['p95'] ?? '' };
  return {
    about: { ...about, texts: judged.length },
    tables: [
      { title: 'In short', rows: [{ ...model, MB: about['folderMB'] ?? '' }, wordsRow(unseen), passingRow(unseen)] },
      { title: 'By what is said', rows: rowsBy(judged, ({ group }) => group) },
      { title: 'By language', rows: rowsBy(unseen, ({ language }) => language) },
      { title: 'Milliseconds', rows: times },
    ],
  };
}

type Guard = (one: Pick<Case, 'purpose' | 'said'>) => Promise<string>;

/** The gateway's guard before a conversation, asking the model as the runtime has it. */
function guardWith(answer: Answerer): Guard {
  const models: Pick<LocalModels, 'judge'> = {
    async judge(state, questions) {
      const { answers } = (await answer({ state, questions })) as { readonly answers: readonly TypedAnswer[] };
      return {
        answers: answers.map(({ probabilities, answer_confidence: answerConfidence }) => ({
          probabilities,
          answerConfidence,
        })),
        revision: '',
      };
    },
  };
  return async ({ purpose, said }) => {
    const messages = said.flatMap((content, at) => [
      ...(at === 0 ? [] : [{ role: 'assistant', content: 'Yes.' }]),
      { role: 'user', content },
    ]);
    const { facts } = await guardScope(
      { scopeGuard: { mode: 'monitor', scope: purpose } },
      userTextIn({ family: 'chat', body: { messages } }),
      { models, signal: new AbortController().signal },
    );
    return facts.scope ?? '';
  };
}

async function judge(guard: Guard, one: Case): Promise<Judged> {
  const [verdict = '', inside = ''] = (await guard(one)).split(': ');
  const [whole = 0, begun = 0] = wordsBeside(one.said.join('\n'))(one.purpose);
  return { ...one, inside: Number(inside), passes: verdict === 'inside', words: whole + begun / 2 };
}

function rowsBy(judged: readonly Judged[], by: (one: Judged) => string): readonly Row[] {
  return [...Map.groupBy(judged, by)].map(([group, members]) => scoreRow(group, members));
}

/** `falseRefusals`: of what is inside, what is refused. `misses`: of what is outside, what passes. F1 is of what is outside. */
function scoreRow(by: string, judged: readonly Judged[]): Row {
  const options = judged.map(({ inside, isInside }) => ({
    probabilities: [inside, 1 - inside],
    truth: isInside ? 0 : 1,
  }));
  const { ece = 0, brier = 0 } = calibrationOf(options);
  return {
    by,
    ...outcomeOf(judged.map(({ isInside, passes }) => [passes, isInside])),
    auc: auc(judged, ({ inside }) => inside),
    wordsAuc: auc(judged, ({ words }) => words),
    ece,
    brier,
  };
}

function outcomeOf(outcomes: readonly (readonly [passes: boolean, isInside: boolean])[]): Row {
  const count = (passes: boolean, isInside: boolean): number =>
    outcomes.filter(([does, is]) => does === passes && is === isInside).length;
  const [kept, refused] = [count(true, true), count(false, true)];
  const [missed, found] = [count(true, false), count(false, false)];
  const share = (part: number, whole: number): number | string => (whole === 0 ? '' : rounded(part / whole));
  return {
    asked: outcomes.length,
    inside: kept + refused,
    accuracy: rounded((kept + found) / outcomes.length),
    f1: found + missed === 0 ? '' : scoreOf({ found, missed, wrong: refused }).f1,
    falseRefusals: share(refused, kept + refused),
    misses: share(missed, missed + found),
  };
}

function auc(judged: readonly Judged[], score: (one: Judged) => number): number | string {
  const found = aucOf(judged.map((one) => [score(one), one.isInside]));
  return Number.isNaN(found) ? '' : found;
}

/** What words in common come to, with the threshold that makes the most of them right. */
function wordsRow(judged: readonly Judged[]): Row {
  const tried = [...new Set(judged.map(({ words }) => words))].map((least) =>
    outcomeOf(judged.map(({ words, isInside }) => [words >= least, isInside])),
  );
  const best = tried.toSorted((a, b) => Number(b['accuracy']) - Number(a['accuracy']))[0] ?? {};
  return { by: 'words in common', ...best, auc: auc(judged, ({ words }) => words) };
}

function passingRow(judged: readonly Judged[]): Row {
  return { by: 'everything refused', ...outcomeOf(judged.map(({ isInside }) => [false, isInside])), auc: 0.5 };
}

async function latencies(guard: Guard, judged: readonly Judged[]): Promise<readonly Row[]> {
  const some = judged.filter((_, at) => at % 9 === 0).slice(0, 100);
  const long = judged.map(({ said }) => said.join(' ')).join(' ').split(/\s+/); // prettier-ignore
  const texts = some.slice(0, 25).map((one, at) => ({ ...one, said: [long.slice(at * 50, at * 50 + 400).join(' ')] }));
  return [
    await timed('a request', some.map((one) => () => guard(one))), // prettier-ignore
    await timed('400 words', texts.map((one) => () => guard(one))), // prettier-ignore
  ];
}
