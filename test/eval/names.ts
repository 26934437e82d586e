import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { eceOf } from './calibration.ts';
import { readCorpus, type Label, type Sample } from './corpus.ts';
import { openModel, type Evaluation, type Places, type Table } from './evaluation.ts';
import { inspectionWith } from './inspection.ts';
import { rounded, scoreOf, tallyOf, type Tally } from './score.ts';
import { timed } from './timing.ts';

/** A set of labelled texts, none of which the model learned from. */
interface Corpus {
  readonly name: string;
  readonly samples: readonly Sample[];
}

type Spans = readonly (readonly [start: number, end: number, kind: string, score: number])[];

const KINDS: Readonly<Record<string, string>> = {
  PER: 'PERSON_NAME',
  PERSON: 'PERSON_NAME',
  LOC: 'LOCATION',
  ORG: 'ORGANIZATION',
  ADDRESS: 'ADDRESS',
};
const LENGTH = 2048;

/** Names of people, places, firms and addresses, exact to the character; the baseline is capital letters. */
export async function evaluateNames(places: Places): Promise<Evaluation> {
  const { answer, about } = await openModel('names', places);
  const find = async (texts: readonly string[]): Promise<readonly Spans[]> =>
    ((await answer({ texts })) as { readonly spans: readonly Spans[] }).spans;
  const corpora = readCorpora(places);
  const kinds: Table['rows'][number][] = [];
  const languages: Table['rows'][number][] = [];
  const clean: Table['rows'][number][] = [];
  const all = { own: [] as Tallies[], capitals: [] as Tallies[] };
  for (const { name, samples } of corpora) {
    const wanted = samples.map(namesIn);
    const found = await inBatches(samples, find);
    const own = tally(samples, wanted, found);
    const capitals = tally(samples, wanted, samples.map(capitalized));
    all.own.push(own);
    all.capitals.push(capitals);
    for (const [kind, score] of byName(own.kinds)) {
      const baseline = scoreOf(capitals.kinds.get(kind) ?? { found: 0, missed: 1, wrong: 0 });
      kinds.push({ corpus: name, kind, ...scoreOf(score), ...beliefIn(own.sure.get(kind)), capitalsF1: baseline.f1 });
    }
    languages.push(...languageRows(name, own.languages));
    clean.push(cleanRow(name, wanted, found));
  }
  const texts = lengthened(corpora.flatMap(({ samples }) => samples.map(({ text }) => text))).slice(0, 200);
  const inspection = inspectionWith(answer);
  const times = [
    await timed(
      'a text of 2 KiB',
      texts.map((text) => () => find([text])),
    ),
    await timed(
      'inspection of 2 KiB',
      texts.map((text) => () => inspection.find([text], inspection.categories)),
    ),
  ];
  const cost = { p50: times[0]?.['p50'] ?? '', p95: times[0]?.['p95'] ?? '', MB: about['folderMB'] ?? '' };
  return {
    about,
    tables: [
      {
        title: 'In short',
        rows: [{ ...shortRow('model', all.own), ...cost }, shortRow('capital letters', all.capitals)],
      },
      { title: 'Names, exact to the character', rows: kinds },
      { title: 'F1 by language', rows: languages },
      { title: 'Texts without any name', rows: clean },
      { title: 'Milliseconds', rows: times },
    ],
  };
}

function readCorpora({ data, own }: Places): readonly Corpus[] {
  const wikis = globSync('wikiann.*.dev.jsonl.gz', { cwd: path.join(data, 'ner') }).toSorted();
  const written = globSync('names.*.jsonl', { cwd: own })
    .toSorted()
    .flatMap((file) => readOwn(path.join(own, file)));
  return [
    { name: 'own', samples: written },
    { name: 'own, in lines', samples: written.map((sample) => ({ ...sample, text: inLines(sample.text) })) },
    { name: 'synth_eu', samples: readCorpus(path.join(data, 'pii/synth_eu.dev.jsonl.gz')) },
    { name: 'germeval', samples: readCorpus(path.join(data, 'ner/germeval2014.de.dev.jsonl.gz')) },
    {
      name: 'wikiann',
      samples: wikis.flatMap((file) => readCorpus(path.join(data, 'ner', file)).filter((_, at) => at % 5 === 0)),
    },
  ];
}

/** A text in lines of about 30 characters, as narrow columns have it. */
function inLines(text: string): string {
  return text.replace(/([^\n]{30}[^ \n]*) /g, '$1\n');
}

/** Sentences of our own that training leaves out (`is_held_out` in inference/training/names/data.py). */
function readOwn(file: string): readonly Sample[] {
  const rows = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return rows
    .map((row) => JSON.parse(row) as { readonly id: string; readonly lang: string; readonly text: string })
    .filter(({ id }) => Number(id.slice(id.lastIndexOf('-') + 1)) % 5 === 0)
    .map(({ lang, text: marked }) => {
      const labels: Label[] = [];
      let text = '';
      let at = 0;
      for (const mark of marked.matchAll(/\[\[(?<label>PER|LOC|ORG|ADDRESS):(?<said>[^[\]]+)\]\]/g)) {
        const { label = '', said = '' } = mark.groups ?? {};
        text += marked.slice(at, mark.index);
        labels.push({ start: text.length, end: text.length + said.length, label });
        text += said;
        at = mark.index + mark[0].length;
      }
      return { language: lang, text: text + marked.slice(at), labels };
    });
}

function namesIn({ labels }: Sample): Spans {
  return labels.flatMap(({ start, end, label }) => {
    const kind = KINDS[label];
    return kind === undefined ? [] : [[start, end, kind, 1] as const];
  });
}

async function inBatches(
  samples: readonly Sample[],
  find: (texts: readonly string[]) => Promise<readonly Spans[]>,
): Promise<readonly Spans[]> {
  const found: Spans[] = [];
  for (let at = 0; at < samples.length; at += 64) {
    found.push(...(await find(samples.slice(at, at + 64).map(({ text }) => text))));
  }
  return found;
}

/** What somebody finds who knows nothing: two capitalized words or more are a person, one alone a place. */
function capitalized({ text }: Sample): Spans {
  return Array.from(
    text.matchAll(/\p{Lu}[\p{L}\p{M}'’-]+(?:[ ]\p{Lu}[\p{L}\p{M}'’.-]+){0,3}/gu),
    ({ 0: said, index }) => [index, index + said.length, said.includes(' ') ? 'PERSON_NAME' : 'LOCATION', 1],
  );
}

interface Tallies {
  readonly kinds: Map<string, Tally>;
  readonly languages: Map<string, Map<string, Tally>>;
  /** By kind, how sure it was of each find, and whether that was right. */
  readonly sure: Map<string, (readonly [sure: number, isRight: boolean])[]>;
  /** For each text, whether it found what people labelled and nothing else. */
  readonly exact: boolean[];
}

function tally(samples: readonly Sample[], wanted: readonly Spans[], found: readonly Spans[]): Tallies {
  const tallies: Tallies = { kinds: new Map(), languages: new Map(), sure: new Map(), exact: [] };
  const labelled = new Set(wanted.flat().map(([, , kind]) => kind));
  const keyOf = ([start, end, kind]: Spans[number]): string => `${start} ${end} ${kind}`;
  for (const [at, { language }] of samples.entries()) {
    const own = tallies.languages.get(language) ?? new Map<string, Tally>();
    tallies.languages.set(language, own);
    const count = (kind: string, outcome: keyof Tally): void => {
      tallyOf(tallies.kinds, kind)[outcome] += 1;
      tallyOf(own, kind)[outcome] += 1;
    };
    const left = new Map((wanted[at] ?? []).map((span) => [keyOf(span), span[2]]));
    let isExact = true;
    for (const span of found[at] ?? []) {
      const [, , kind, sure] = span;
      // A kind that nobody labelled in a corpus may be there all the same.
      if (!labelled.has(kind)) continue;
      const isRight = left.delete(keyOf(span));
      count(kind, isRight ? 'found' : 'wrong');
      const told = tallies.sure.get(kind) ?? [];
      tallies.sure.set(kind, told);
      told.push([sure, isRight]);
      isExact &&= isRight;
    }
    for (const kind of left.values()) count(kind, 'missed');
    tallies.exact.push(isExact && left.size === 0);
  }
  return tallies;
}

/** ECE and Brier score of what was found: how sure it was beside how often that was right. */
function beliefIn(told: readonly (readonly [sure: number, isRight: boolean])[] = []): {
  readonly ece: number;
  readonly brier: number;
} {
  const off = told.reduce((sum, [sure, isRight]) => sum + (sure - Number(isRight)) ** 2, 0);
  return told.length === 0 ? { ece: 0, brier: 0 } : { ece: eceOf(told), brier: rounded(off / told.length) };
}

/** All corpora together; `accuracy`: of texts, those in which what people labelled was found and nothing else. */
function shortRow(by: string, tallies: readonly Tallies[]): Table['rows'][number] {
  const exact = tallies.flatMap((each) => each.exact);
  const all = { found: 0, missed: 0, wrong: 0 };
  for (const { found, missed, wrong } of tallies.flatMap(({ kinds }) => [...kinds.values()])) {
    all.found += found;
    all.missed += missed;
    all.wrong += wrong;
  }
  const { labelled, f1 } = scoreOf(all);
  const told = tallies.flatMap(({ sure }) => [...sure.values()].flat());
  return {
    by,
    texts: exact.length,
    labelled,
    accuracy: rounded(exact.filter(Boolean).length / exact.length),
    f1,
    ...beliefIn(told),
  };
}

function byName(tallies: ReadonlyMap<string, Tally>): readonly (readonly [string, Tally])[] {
  return [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function languageRows(corpus: string, languages: ReadonlyMap<string, ReadonlyMap<string, Tally>>): Table['rows'] {
  const f1 = (own: ReadonlyMap<string, Tally>, kind: string): number | string => {
    const of = own.get(kind);
    return of && of.found + of.missed > 0 ? scoreOf(of).f1 : '';
  };
  return [...languages]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([language, own]) => ({
      corpus,
      language,
      ...Object.fromEntries(
        ['PERSON_NAME', 'LOCATION', 'ORGANIZATION', 'ADDRESS'].map((kind) => [kind, f1(own, kind)]),
      ),
    }));
}

function cleanRow(corpus: string, wanted: readonly Spans[], found: readonly Spans[]): Table['rows'][number] {
  const empty = found.filter((_, at) => wanted[at]?.length === 0);
  const per = (kind?: string): number => {
    const finds = empty.flat().filter((span) => kind === undefined || span[2] === kind).length;
    return empty.length === 0 ? 0 : rounded((finds / empty.length) * 1000);
  };
  return {
    corpus,
    texts: empty.length,
    findsPerThousandTexts: per(),
    people: per('PERSON_NAME'),
    places: per('LOCATION'),
    organizations: per('ORGANIZATION'),
  };
}

/** Texts put together to ones of 2 kB. */
function lengthened(texts: readonly string[]): readonly string[] {
  const all = texts.join('\n');
  return Array.from({ length: Math.floor(all.length / LENGTH) }, (_, at) => all.slice(at * LENGTH, (at + 1) * LENGTH));
}
