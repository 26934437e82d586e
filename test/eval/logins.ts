import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Scanner } from '#/inspect/detectors/scanner.ts';
import type { Match } from '#/inspect/match.ts';
import { createDecodedScanner } from '#/inspect/decoding/decoded-scanner.ts';
import { marked, type Marked } from '../harness/marked-text.ts';
import type { Evaluation, Table } from './evaluation.ts';
import { rounded } from './score.ts';

/** The sets of sentences: rules and a model learned from the first, thresholds were chosen on the next three; nothing was on `unseen`. */
export const SETS = ['tuned', 'held-out', 'fresh', 'varied', 'unseen'] as const;
/** The kinds that the sentences have, marked. */
export const KINDS = ['USERNAME', 'SECRET'] as const;

/** A sentence of an e-mail, ticket or chat, and the logins and passwords in it. */
interface Said extends Marked {
  readonly set: (typeof SETS)[number];
  readonly language: string;
}

/** What was looked for, where it was said, and how it ended. */
interface LoginOutcome {
  readonly said: Said;
  readonly category: string;
  /** `inexact`: a part of it was found, or it with more around it, or as another kind. */
  readonly outcome: 'found' | 'inexact' | 'missed' | 'wrong';
  readonly value: string;
}

const FOLDER = path.join(import.meta.dirname, 'logins');

/** Sentences with a login or password, by file: `<set>.<language>.txt`, one a line. */
export function loginSentences(): readonly Said[] {
  return globSync('*.txt', { cwd: FOLDER })
    .toSorted()
    .flatMap((file) => {
      const [set = '', language = ''] = file.split('.');
      const lines = readFileSync(path.join(FOLDER, file), 'utf8').split('\n').filter(Boolean);
      return lines.map((line) => ({ ...marked(line), set: set as Said['set'], language }));
    });
}

/** Prompts and reviews that speak of logins and passwords and hold none, by file: `<what>.<language>.txt`. */
export function loginPrompts(): readonly { readonly name: string; readonly text: string }[] {
  const files = globSync('*.txt', { cwd: path.join(FOLDER, 'prompts') }).toSorted();
  return files.map((name) => ({ name, text: readFileSync(path.join(FOLDER, 'prompts', name), 'utf8') }));
}

/** Sentences that speak of logins and passwords and hold none, by file: `plain/<set>.<language>.txt`, one a line. */
export function plainSentences(): readonly string[] {
  const files = globSync('*.txt', { cwd: path.join(FOLDER, 'plain') }).toSorted();
  return files.flatMap((file) =>
    readFileSync(path.join(FOLDER, 'plain', file), 'utf8')
      .split('\n')
      .filter(Boolean),
  );
}

/** What becomes of the logins and passwords of a sentence, and what else of it is taken for one. */
function outcomesOf(detection: Scanner, said: Said): readonly LoginOutcome[] {
  const { text, spans } = said;
  const found = detection.find(text);
  const touches = (a: Match, b: Match): boolean => a.start < b.end && b.start < a.end;
  const outcomes = spans.map((span): LoginOutcome => {
    const find = found.find((one) => touches(one, span));
    const isExact = find?.category === span.category && find.start === span.start && find.end === span.end;
    const value = text.slice(span.start, span.end);
    return { said, category: span.category, outcome: find ? (isExact ? 'found' : 'inexact') : 'missed', value };
  });
  const wrong = found.filter((one) => !spans.some((span) => touches(one, span)));
  return [
    ...outcomes,
    ...wrong.map(({ category, start, end }): LoginOutcome => ({
      said,
      category,
      outcome: 'wrong',
      value: text.slice(start, end),
    })),
  ];
}

/** Logins and passwords in running text: what is found of them, and what is taken for one in prompts that have none. */
export function evaluateLogins(): Promise<Evaluation> {
  const detection = createDecodedScanner();
  const outcomes = loginSentences().flatMap((said) => outcomesOf(detection, said));
  const prompts = loginPrompts().map((prompt) => ({ ...prompt, found: detection.find(prompt.text) }));
  const plain = plainSentences().map((text) => ({ name: 'a sentence', text, found: detection.find(text) }));
  return Promise.resolve({
    about: { languages: new Set(outcomes.map(({ said }) => said.language)).size },
    tables: [
      { title: 'Logins and passwords in sentences', rows: SETS.flatMap((set) => rowsOf(set, outcomes)) },
      {
        title: 'Prompts that only speak of them',
        rows: [wrongIn('all', prompts), wrongIn('sentences', plain)],
      },
      {
        title: 'Missed, or not to the character',
        rows: outcomes.filter(({ outcome }) => outcome !== 'found').map(told),
      },
      {
        title: 'Replaced, and nobody’s',
        rows: [...prompts, ...plain].flatMap(({ name, text, found }) =>
          found.map(({ start, end, category }) => ({
            prompt: name,
            category,
            said: text.slice(Math.max(0, start - 20), end + 10).replaceAll('\n', ' '),
          })),
        ),
      },
    ],
  });
}

function wrongIn(
  what: string,
  texts: readonly { readonly text: string; readonly found: readonly Match[] }[],
): Table['rows'][number] {
  const words = texts.reduce((sum, { text }) => sum + (text.match(/\S+/g)?.length ?? 0), 0);
  const wrong = texts.reduce((sum, { found }) => sum + found.length, 0);
  return { prompts: what, words, wrong, wrongPerThousandWords: rounded((wrong / words) * 1000) };
}

function rowsOf(set: Said['set'], outcomes: readonly LoginOutcome[]): Table['rows'] {
  const own = outcomes.filter(({ said }) => said.set === set);
  return KINDS.map((kind) => {
    const count = (outcome: LoginOutcome['outcome']): number =>
      own.filter((one) => one.category === kind && one.outcome === outcome).length;
    const [found, inexact, missed] = [count('found'), count('inexact'), count('missed')];
    const said = found + inexact + missed;
    return { set, kind, said, found, inexact, missed, wrong: count('wrong'), recall: rounded(found / said) };
  });
}

function told({ said, category, outcome, value }: LoginOutcome): Table['rows'][number] {
  return { set: said.set, language: said.language, category, outcome, value, sentence: said.text };
}
