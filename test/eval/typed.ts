import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { exchanged } from '../../inference/decide/denial.ts';
import type { Answerer } from '../../inference/decide/loaders.ts';
import type { TypedAnswer } from '../../inference/decide/typed.ts';
import { rowTexts, stateText, wordsBeside, type TypedQuestion } from '../../inference/decide/typed-input.ts';
import { aucOf, calibrationOf, eceOf, f1Of, topOf } from './calibration.ts';
import { openModel, type Evaluation, type Places, type Table } from './evaluation.ts';
import { rollOf, rollOfId, sampled } from './held-out.ts';
import { rounded } from './score.ts';
import { timed } from './timing.ts';

interface Line {
  readonly id: string;
  readonly lang: string;
  readonly state: unknown;
  readonly q: readonly {
    readonly n: string;
    readonly t: TypedQuestion['type'];
    readonly i: string;
    readonly o?: readonly string[];
    readonly l?: readonly string[];
    readonly a: number | boolean;
  }[];
}

/** A question, which of its options is right, and where it is from. */
interface Asked {
  readonly corpus: string;
  readonly language: string;
  readonly state: unknown;
  readonly question: TypedQuestion;
  readonly truth: number;
}

type Judged = Asked & TypedAnswer;
type Row = Table['rows'][number];

const SHARED = ['clinc150', 'dnc', 'hwu64', 'nlupp', 'p3_mini', 'snli', 'synth_support', 'wikiann_questions'];
const OWN = 'own';
/** Items of a shared set that are asked about. */
const MOST_ITEMS = 150;
const LEVELS = [0, 0.5, 0.7, 0.8, 0.9];

/**
 * Questions about states that training left out, beside guessing (of a proposition what is more frequent, else any option)
 * and looking for the options' words in the state.
 */
export async function evaluateTyped(places: Places): Promise<Evaluation> {
  const { answer, about } = await openModel('typed', places);
  const asked = readAsked(places);
  const judged: Judged[] = [];
  // Questions about one state are asked together, as callers do.
  for (const group of Map.groupBy(asked, ({ state }) => state).values()) {
    const answers = await decide(
      answer,
      group[0]?.state,
      group.map(({ question }) => question),
    );
    group.forEach((one, at) => judged.push({ ...one, ...(answers[at] as TypedAnswer) }));
  }
  const own = judged.filter(({ corpus }) => corpus === OWN);
  const times = await latencies(answer, asked);
  const cost = { p50: times[1]?.['p50'] ?? '', p95: times[1]?.['p95'] ?? '', MB: about['folderMB'] ?? '' };
  return {
    about: { ...about, questions: judged.length },
    tables: [
      { title: 'In short', rows: shortRows(judged, cost) },
      { title: 'Answers', rows: grouped(judged, ({ corpus, question }) => `${corpus}: ${question.type}`, scoreRow) },
      { title: 'Our own, by language', rows: grouped(own, ({ language }) => language, languageRow) },
      { title: 'By answer_confidence', rows: LEVELS.map((level) => confidenceRow(level, judged, own)) },
      { title: 'Laws, by the largest difference of a probability', rows: await lawRows(answer, asked) },
      { title: 'Milliseconds', rows: times },
    ],
  };
}

async function decide(
  answer: Answerer,
  state: unknown,
  questions: readonly TypedQuestion[],
): Promise<readonly TypedAnswer[]> {
  return ((await answer({ state, questions })) as { readonly answers: readonly TypedAnswer[] }).answers;
}

function readAsked({ data, own }: Places): readonly Asked[] {
  const shared = SHARED.flatMap((corpus) => {
    const text = gunzipSync(readFileSync(path.join(data, 'decisions', `${corpus}.jsonl.gz`))).toString();
    const lines = linesOf(text);
    const isHeld = ({ state, q }: Line): boolean => rollOf(stateText(state)) < 6 && !q.some(isUnseen);
    const some = (of: readonly Line[]): readonly Line[] => sampled(of, MOST_ITEMS, ({ id }) => id);
    const ordinary = some(lines.filter(isHeld));
    const unseen = some(lines.filter(({ q }) => q.some(isUnseen)));
    const intents = unseen.map((line) => ({ ...line, q: line.q.filter(isUnseen) }));
    return [
      ...ordinary.flatMap((line) => askedOf(corpus, line)),
      ...intents.flatMap((line) => askedOf(`${corpus} unseen`, line)),
    ];
  });
  const files = globSync('decisions.*.jsonl', { cwd: own }).toSorted();
  const ours = files.flatMap((file) => linesOf(readFileSync(path.join(own, file), 'utf8')));
  const isTest = ({ id }: Line): boolean => rollOfId(id) < 15;
  return [...shared, ...ours.filter(isTest).flatMap((line) => askedOf(OWN, line))];
}

function linesOf(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
}

/** Whether it is about an intent that no question of training offered. */
function isUnseen({ n, o = [], a }: Line['q'][number]): boolean {
  return n === 'intent' && rollOf(`intent ${o[Number(a)] ?? ''}`) < 12;
}

function askedOf(corpus: string, { lang, state, q }: Line): readonly Asked[] {
  const clean = (text: string): string => text.replace(/[[\]()`]/g, '').trim();
  return q.map(({ t, i, o, l, a }) => ({
    corpus,
    language: lang,
    state,
    question: {
      type: t,
      instructions: clean(i),
      options:
        t === 'noul' ? [{ name: 'true' }, { name: 'false' }] : (o ?? l ?? []).map((name) => ({ name: clean(name) })),
    },
    truth: t === 'noul' ? Number(!a) : Number(a),
  }));
}

function grouped(
  judged: readonly Judged[],
  by: (one: Judged) => string,
  row: (group: string, judged: readonly Judged[]) => Row,
): readonly Row[] {
  const groups = Map.groupBy(judged, by);
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([group, members]) => row(group, members));
}

/** All questions together. F1 is of propositions that hold; times are of 16 questions about 150 words. */
function shortRows(judged: readonly Judged[], cost: Row): readonly Row[] {
  const { accuracy = 0, ece = 0, brier = 0 } = calibrationOf(judged);
  const nouls = judged.filter(({ question }) => question.type === 'noul');
  const most = mean(nouls.map(({ truth }) => Number(truth === 0)));
  const guessed = judged.map(({ question, probabilities }) =>
    question.type === 'noul' ? Math.max(most, 1 - most) : 1 / probabilities.length,
  );
  const worded = judged.map((one) => Number(topOf(wordsOf(one)) === one.truth));
  const byWords = nouls.map((one) => ({ probabilities: wordsOf(one), truth: one.truth }));
  return [
    { by: 'model', asked: judged.length, accuracy, f1: f1Of(nouls, 0), ece, brier, ...cost },
    { by: 'words in common', asked: judged.length, accuracy: rounded(mean(worded)), f1: f1Of(byWords, 0) },
    { by: 'guessing', asked: judged.length, accuracy: rounded(mean(guessed)) },
  ];
}

/** The baseline's view of every option; it takes a proposition with half of its words in the state to hold. */
function wordsOf(one: Judged): readonly number[] {
  const overlaps = overlapsOf(one);
  return one.question.type === 'noul' ? [overlaps[0] ?? 0, 0.5] : overlaps;
}

function scoreRow(group: string, judged: readonly Judged[]): Row {
  const { accuracy = 0, ece = 0, brier = 0 } = calibrationOf(judged);
  const isNoul = judged.every(({ question }) => question.type === 'noul');
  const holds = ({ truth }: Judged): boolean => truth === 0;
  const said = judged.map((one) => [one.probabilities[0] ?? 0, holds(one)] as const);
  const words = judged.map((one) => [overlapsOf(one)[0] ?? 0, holds(one)] as const);
  const counts = Map.groupBy(judged, ({ truth }) => truth).values();
  const most = Math.max(...Array.from(counts, ({ length }) => length)) / judged.length;
  const byWords = mean(judged.map((one) => Number(topOf(overlapsOf(one)) === one.truth)));
  return {
    group,
    asked: judged.length,
    accuracy,
    guess: rounded(isNoul ? most : mean(judged.map(({ probabilities }) => 1 / probabilities.length))),
    words: isNoul ? '' : rounded(byWords),
    auc: isNoul ? aucOf(said) : '',
    wordsAuc: isNoul ? aucOf(words) : '',
    ece,
    brier,
    confidenceAuc: aucOf(judged.map((one) => [one.answer_confidence, isRight(one)])),
  };
}

function languageRow(group: string, judged: readonly Judged[]): Row {
  const right = (type: TypedQuestion['type']): number =>
    rounded(mean(judged.filter(({ question }) => question.type === type).map((one) => Number(isRight(one)))));
  const { accuracy = 0, ece = 0, brier = 0 } = calibrationOf(judged);
  return {
    group,
    asked: judged.length,
    accuracy,
    noul: right('noul'),
    noulF1: f1Of(
      judged.filter(({ question }) => question.type === 'noul'),
      0,
    ),
    choice: right('choice'),
    score: right('score'),
    ece,
    brier,
  };
}

function confidenceRow(level: number, judged: readonly Judged[], own: readonly Judged[]): Row {
  const of = (all: readonly Judged[]): readonly [told: number, right: number] => {
    const kept = all.filter((one) => one.answer_confidence >= level);
    return [rounded(kept.length / all.length), rounded(mean(kept.map((one) => Number(isRight(one)))))];
  };
  const [told, right] = of(judged);
  const [ownTold, ownRight] = of(own);
  const ece = eceOf(judged.map((one) => [one.answer_confidence, isRight(one)]));
  return { atLeast: level, told, right, ownTold, ownRight, ece: level === 0 ? ece : '' };
}

function isRight({ probabilities, truth }: Judged): boolean {
  return topOf(probabilities) === truth;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The baseline: how many of an option's words the state has, or begins like; of a proposition its own. */
function overlapsOf({ question, state }: Asked): readonly number[] {
  const factsOf = wordsBeside(stateText(state));
  const shares = rowTexts(question).map((text) => {
    const [whole = 0, begun = 0] = factsOf(text);
    return whole + begun / 2;
  });
  return question.type === 'noul' ? shares : shares.slice(1);
}

/** Options in another order, and questions asked alone, change nothing; a proposition and its denial should make one. */
async function lawRows(answer: Answerer, asked: readonly Asked[]): Promise<readonly Row[]> {
  const some = asked.filter((_, at) => at % 29 === 0);
  const apart: Record<string, number[]> = { reversed: [], together: [], denied: [] };
  for (const [at, { state, question, language }] of some.entries()) {
    const [alone] = await decide(answer, state, [question]);
    const others = some.slice(at, at + 4).map((other) => other.question);
    const together = (await decide(answer, state, [...others.slice(1), question])).at(-1);
    const reversed = { ...question, options: question.options.toReversed() };
    const [turned] = question.type === 'noul' ? [alone] : await decide(answer, state, [reversed]);
    const order = question.type === 'noul' ? turned?.probabilities : turned?.probabilities.toReversed();
    apart['together']?.push(distance(alone?.probabilities, together?.probabilities));
    apart['reversed']?.push(distance(alone?.probabilities, order));
    if (question.type !== 'noul' || language !== 'en') continue;
    const instructions = `It is not true that ${question.instructions}`;
    const [denied] = await decide(answer, state, [{ ...question, instructions, options: exchanged(question.options) }]);
    apart['denied']?.push(distance(alone?.probabilities, denied?.probabilities.toReversed()));
  }
  return Object.entries(apart).map(([law, all]) => ({
    law,
    asked: all.length,
    mean: Number(mean(all).toPrecision(2)),
    most: Number(Math.max(...all).toPrecision(2)),
  }));
}

function distance(one: readonly number[] = [], other: readonly number[] = []): number {
  return Math.max(...one.map((p, at) => Math.abs(p - (other[at] ?? Number.NaN))));
}

async function latencies(answer: Answerer, asked: readonly Asked[]): Promise<readonly Row[]> {
  const own = asked.filter(({ corpus }) => corpus === OWN);
  const texts = [...new Set(own.map(({ state }) => stateText(state)))];
  const asks = (words: number, count: number) => (_: unknown, at: number) => (): Promise<unknown> => {
    const text = [...texts.slice(at * 7), ...texts].join('\n').split(/\s+/).slice(0, words).join(' ');
    const questions = Array.from({ length: count }, (_q, i) => own[(at * 31 + i * 5) % own.length]?.question);
    return answer({ state: text, questions });
  };
  const few = Array.from({ length: 25 });
  return [
    await timed('one question, 30 words', few.map(asks(30, 1))),
    await timed('16 questions, 150 words', few.map(asks(150, 16))),
    await timed('16 questions, 384 words', few.map(asks(384, 16))),
    await timed('the most that may be asked', few.slice(0, 2).map(askMost(texts.join('\n'), answer))),
  ];
}

/** 16 questions of 20 options, about 1,000 tokens together, about 384 words of many pieces. // spec 4.4.5 */
function askMost(text: string, answer: Answerer): (_: unknown, at: number) => () => Promise<unknown> {
  const long = [...new Set(text.match(/\p{L}{14,}/gu))];
  const words = [...new Set(text.match(/\p{L}{9}/gu))];
  return (_, at) => () => {
    const questions = Array.from({ length: 16 }, (_question, number): TypedQuestion => {
      const [first = '', ...others] = words.slice((at * 16 + number) * 21).slice(0, 21);
      return { type: 'choice', instructions: `${first} `.repeat(5).trim(), options: others.map((name) => ({ name })) };
    });
    return answer({ state: Array.from({ length: 384 }, (_word, i) => long[i % long.length]).join(' '), questions });
  };
}
