import path from 'node:path';
import { createDecodedScanner } from '#/inspect/decoding/decoded-scanner.ts';
import type { Scanner } from '#/inspect/detectors/scanner.ts';
import { createDetectors } from '#/inspect/detectors/list.ts';
import { marked } from '../harness/marked-text.ts';
import { type Label, readCorpus, type Sample } from './corpus.ts';
import type { Evaluation, Places, Table } from './evaluation.ts';
import { quantileOf, rounded, scoreOf, type Score, type Tally, tallyOf } from './score.ts';

/** Labels that rules cannot find: names are a model's work. */
const NAMES = new Set(['PERSON', 'ORG', 'LOC']);
/** The share of the credentials, at the end of their file, that is measured. */
const TESTED = 1 / 6;
const LENGTH = 2_048;
const ROUNDS = 40;

/**
 * The kind that a label or find is scored under. What one country calls a tax number is another's number of a person,
 * so those two are one; VAT numbers are apart, and passwords are secrets.
 */
function kindOf(name: string, value: string): string {
  if (name === 'PASSWORD') return 'SECRET';
  if (name !== 'TAX_ID') return name;
  return /^(?:[A-Z]{2}|CHE)[ -]?[\dU]/.test(value) ? 'VAT_ID' : 'NATIONAL_ID';
}

/** Figures of one detection. */
export interface DetectionScores {
  readonly personal: {
    readonly kinds: Readonly<Record<string, Score>>;
    /** F1 by kind and language. */
    readonly languages: Readonly<Record<string, Readonly<Record<string, number>>>>;
    readonly clean: { readonly texts: number; readonly finds: number; readonly perThousand: number };
  };
  readonly secrets: { readonly kinds: Readonly<Record<string, Score>>; readonly lookAlikes: number };
  readonly microsecondsPer2kB: { readonly texts: number; readonly p50: number; readonly p99: number };
}

function scorePersonal(detection: Scanner, samples: readonly Sample[], misses?: string): DetectionScores['personal'] {
  const tallies = new Map<string, Tally>();
  const byLanguage = new Map<string, Map<string, Tally>>();
  const clean = { texts: 0, finds: 0 };
  for (const { language, text, labels } of samples) {
    const wanted = labels.filter(({ label }) => !NAMES.has(label));
    const finds = detection.find(text);
    if (wanted.length === 0) {
      clean.texts += 1;
      clean.finds += finds.length;
    }
    const count = (kind: string, outcome: keyof Tally, { start, end }: { start: number; end: number }): void => {
      tallyOf(tallies, kind)[outcome] += 1;
      const own = byLanguage.get(kind) ?? new Map<string, Tally>();
      byLanguage.set(kind, own);
      tallyOf(own, language)[outcome] += 1;
      if (kind === misses && outcome !== 'found')
        process.stdout.write(
          `${language} ${outcome} ${JSON.stringify(text.slice(Math.max(0, start - 40), end + 20))} ${text.slice(start, end)}\n`,
        );
    };
    const left = new Set<Label>(wanted);
    for (const find of finds) {
      const kind = kindOf(find.category, text.slice(find.start, find.end));
      const hit = wanted.find(
        ({ start, end, label }) =>
          start === find.start && end === find.end && kindOf(label, text.slice(start, end)) === kind,
      );
      if (hit !== undefined) left.delete(hit);
      count(kind, hit === undefined ? 'wrong' : 'found', find);
    }
    for (const label of left) count(kindOf(label.label, text.slice(label.start, label.end)), 'missed', label);
  }
  return {
    kinds: scores(tallies),
    languages: Object.fromEntries([...byLanguage].toSorted(byName).map(([kind, own]) => [kind, f1s(own)])),
    clean: { ...clean, perThousand: rounded((clean.finds / clean.texts) * 1000) },
  };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function scores(tallies: ReadonlyMap<string, Tally>): Readonly<Record<string, Score>> {
  return Object.fromEntries([...tallies].toSorted(byName).map(([kind, tally]) => [kind, scoreOf(tally)]));
}

function f1s(tallies: ReadonlyMap<string, Tally>): Readonly<Record<string, number>> {
  return Object.fromEntries([...tallies].toSorted(byName).map(([language, tally]) => [language, scoreOf(tally).f1]));
}

/** Credentials count as found when any part of them is: a URL's password is what must go, the label has the whole URL. */
function scoreSecrets(detection: Scanner, samples: readonly Sample[]): DetectionScores['secrets'] {
  const tallies = new Map<string, Tally>();
  const all = tallyOf(tallies, 'all');
  for (const { text, labels } of samples) {
    const [label] = labels;
    const isFound = detection
      .find(text)
      .some(
        ({ category, start, end }) =>
          category === 'SECRET' && (label === undefined || (start < label.end && label.start < end)),
      );
    if (label === undefined) all.wrong += Number(isFound);
    else {
      tallyOf(tallies, label.label)[isFound ? 'found' : 'missed'] += 1;
      all[isFound ? 'found' : 'missed'] += 1;
    }
  }
  return { kinds: scores(tallies), lookAlikes: samples.filter(({ labels }) => labels.length === 0).length };
}

/** Microseconds for each text of 2 kB put together from the samples, every one measured many times. */
function time(detection: Scanner, samples: readonly Sample[]): DetectionScores['microsecondsPer2kB'] {
  const all = samples.map(({ text }) => text).join('\n');
  const texts: string[] = [];
  for (let at = 0; at + LENGTH <= all.length; at += LENGTH) {
    // Flat strings, as a JSON parser makes them.
    texts.push(JSON.parse(JSON.stringify(all.slice(at, at + LENGTH))) as string);
  }
  // The fastest of many runs of each text: what else the machine does only ever adds.
  const times = texts.map(() => Infinity);
  for (let round = 0; round < ROUNDS; round += 1) {
    texts.forEach((text, index) => {
      const start = process.hrtime.bigint();
      detection.find(text);
      times[index] = Math.min(times[index] as number, Number(process.hrtime.bigint() - start) / 1000);
    });
  }
  return { texts: texts.length, p50: rounded(quantileOf(times, 0.5)), p99: rounded(quantileOf(times, 0.99)) };
}

/**
 * Scores a detection on texts of people and on credentials. `corpus`: a file under the folder of data; `misses`: a kind of
 * which everything that goes wrong is printed.
 */
export function scoreDetection(
  detection: Scanner,
  data: string,
  { corpus = 'pii/synth_eu.dev.jsonl.gz', misses }: { readonly corpus?: string; readonly misses?: string } = {},
): DetectionScores {
  const personal = readCorpus(path.join(data, corpus));
  const secrets = readCorpus(path.join(data, 'secrets/synth_secrets.jsonl.gz'));
  const tested = secrets.slice(Math.floor(secrets.length * (1 - TESTED)));
  return {
    personal: scorePersonal(detection, personal, misses),
    secrets: scoreSecrets(detection, tested),
    microsecondsPer2kB: time(detection, personal),
  };
}

/** How each kind does on the examples of its detectors, and on the texts that they ignore: no data is needed for a new one. */
function scoreExamples(detection: Scanner): Readonly<Record<string, Score>> {
  const tallies = new Map<string, Tally>();
  for (const { category, examples, ignores } of createDetectors()) {
    const tally = tallyOf(tallies, category);
    for (const source of [...examples, ...ignores]) {
      const { text, spans } = marked(source.replaceAll('‹', `‹${category}:`));
      const found = detection.find(text, new Set([category]));
      const hits = found.filter((one) => spans.some(({ start, end }) => start === one.start && end === one.end)).length;
      tally.found += hits;
      tally.missed += spans.length - hits;
      tally.wrong += found.length - hits;
    }
  }
  return scores(tallies);
}

/** The detectors of structured kinds, beside nothing: they are the baseline of others. */
export function evaluateDetectors({ data }: Places): Promise<Evaluation> {
  const scanner = createDecodedScanner();
  const { personal, secrets, microsecondsPer2kB: took } = scoreDetection(scanner, data);
  const examples = scoreExamples(scanner);
  const rows = (kinds: Readonly<Record<string, Score>>): Table['rows'] =>
    Object.entries(kinds).map(([kind, score]) => ({ kind, ...score }));
  return Promise.resolve({
    about: { lookAlikesOfCredentials: secrets.lookAlikes },
    tables: [
      { title: 'Personal data, exact to the character (synth_eu.dev)', rows: rows(personal.kinds) },
      { title: 'Texts without any', rows: [{ what: 'synth_eu.dev', ...personal.clean }] },
      { title: 'Credentials', rows: rows(secrets.kinds) },
      { title: 'Examples of detectors', rows: rows(examples) },
      {
        title: 'Milliseconds',
        rows: [{ what: 'a text of 2 kB', asked: took.texts, p50: took.p50 / 1000, p99: took.p99 / 1000 }],
      },
    ],
  });
}
