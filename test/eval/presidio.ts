import { readFileSync } from 'node:fs';
import { openModel, type Evaluation, type Places, type Table } from './evaluation.ts';
import { inspectionWith } from './inspection.ts';
import { rounded, tallyOf, type Tally } from './score.ts';

/** A sentence of presidio-research's `synth_dataset_v2.json`; offsets are in code points. */
interface Sentence {
  readonly full_text: string;
  readonly spans: readonly {
    readonly entity_type: string;
    readonly start_position: number;
    readonly end_position: number;
  }[];
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Those that its own evaluator does not count, of more than one letter. */
const SKIPPED = new Set(
  'street st de rue via and a the or do as of day address country state city zip po apt unit corner box suite mr mrs miss year years month months old'.split(
    ' ',
  ),
);

/**
 * Everything that inspection finds, on the 1,500 sentences of presidio-research, which are no part of this repository:
 * `--presidio FILE`. Personal or not, word by word, whatever the kind; recall weighs twice, as it does there.
 */
export async function evaluatePresidio(file: string, places: Places): Promise<Evaluation> {
  const { answer, about } = await openModel('names', places);
  const whole = inspectionWith(answer);
  const all = { found: 0, missed: 0, wrong: 0 };
  const kinds = new Map<string, Tally>();
  for (const { full_text: text, spans } of JSON.parse(readFileSync(file, 'utf8')) as readonly Sentence[]) {
    const [finds = []] = await whole.find([text], whole.categories);
    for (const { word, at, point } of wordsOf(text)) {
      if (SKIPPED.has(word.toLowerCase())) continue;
      const isFound = finds.some(({ start, end }) => start <= at && at < end);
      const kind = spans.find(({ start_position: from, end_position: to }) => from <= point && point < to)?.entity_type;
      if (kind !== undefined) tallyOf(kinds, kind)[isFound ? 'found' : 'missed'] += 1;
      if (isFound || kind !== undefined) all[kind === undefined ? 'wrong' : isFound ? 'found' : 'missed'] += 1;
    }
  }
  return { about, tables: tablesOf(all, kinds) };
}

function* wordsOf(text: string): Generator<{ readonly word: string; readonly at: number; readonly point: number }> {
  let point = 0;
  let last = 0;
  for (const { 0: word, index: at } of text.matchAll(WORD)) {
    point += Array.from(text.slice(last, at)).length;
    last = at;
    yield { word, at, point };
  }
}

function tablesOf({ found, missed, wrong }: Tally, kinds: ReadonlyMap<string, Tally>): readonly Table[] {
  const [precision, recall] = [found / (found + wrong), found / (found + missed)];
  const f2 = (5 * precision * recall) / (4 * precision + recall);
  const rows = [...kinds].toSorted(([, a], [, b]) => b.found + b.missed - a.found - a.missed);
  return [
    {
      title: 'Words of presidio-research, personal or not',
      rows: [{ words: found + missed, f2: rounded(f2), precision: rounded(precision), recall: rounded(recall) }],
    },
    {
      title: 'Recall by what they call it',
      rows: rows.map(([kind, tally]) => ({
        kind,
        words: tally.found + tally.missed,
        recall: rounded(tally.found / (tally.found + tally.missed)),
      })),
    },
  ];
}
