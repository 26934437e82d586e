import { unzipSync } from 'fflate';
import type { CorpusDocument } from '../corpus/planting.ts';
import { formOf, type DocumentWorld } from '../world.ts';
import { partsOfMail, richTextOf } from './written-otherwise.ts';
import { asFile, output, recognized, succeeds } from './programs.ts';
import { fold, leaksIn, readableIn, type Leak } from './search.ts';

/** What was found out about one document after it was anonymized. */
export interface Examined {
  readonly document: CorpusDocument;
  readonly leaks: readonly Leak[];
  /** Of text in pictures: places where another recognizer still reads somebody, and how many there were. */
  readonly read: { readonly still: readonly string[]; readonly of: number };
  /** Of the words that are nobody's, how many are still there, and how many there were. */
  readonly words: { readonly kept: number; readonly of: number };
  /** What is wrong with it: no answer, no tags, nothing that another program opens. */
  readonly faults: readonly string[];
  readonly result: Uint8Array;
  /** Of who comes several times; empty where nobody was found. */
  readonly tag: string;
  /** Whether names were looked for, beside those that were given. */
  readonly byModel: boolean;
}

interface Answer {
  readonly content_base64: string;
  readonly filename: string;
  readonly summary: { readonly downgraded: boolean };
  readonly mapping: readonly { readonly token: string; readonly original: string }[];
}

/** The workload that waits as long as a workload may. */
export const PATIENT = 'patient';

/**
 * Anonymizes a document through the gateway and looks at what came back. `named`: all who are in it are given to be removed;
 * else a local model has to find them, where there is one.
 */
export async function examine(world: DocumentWorld, document: CorpusDocument, named = true): Promise<Examined> {
  const people = [document.known.person.name, ...document.planted.map((one) => one.name).filter((one) => one !== '')];
  const remove = named ? people.map((term) => ({ term, label: 'person' })) : [];
  const options = { remove, include_mapping: true };
  const answer = await world.anonymize(formOf(document.bytes, document.name, options), { as: PATIENT });
  if (answer.status !== 200) {
    const fault = `${answer.status} ${(await answer.text()).slice(0, 200)}`;
    return {
      document,
      leaks: [],
      read: { still: [], of: 0 },
      words: { kept: 0, of: 0 },
      faults: [fault],
      result: new Uint8Array(),
      tag: '',
      byModel: false,
    };
  }
  const { content_base64, mapping, summary } = (await answer.json()) as Answer;
  const bytes = new Uint8Array(Buffer.from(content_base64, 'base64'));
  const text = await readByOthers(document, bytes);
  return {
    document,
    leaks: await leaksIn(document, bytes),
    read: stillRead(document, text),
    words: wordsKept(
      document,
      document.scanned ? await recognized(document.bytes, document.mediaType, document.language) : undefined,
      text,
    ),
    faults: [
      ...tagFaults(document, mapping, text, named),
      ...(document.stays && summary.downgraded ? ['a page became a picture'] : []),
      ...(await openingFaults(document, bytes)),
    ],
    result: bytes,
    tag: tagsOf(document, mapping)[0] ?? '',
    byModel: !(answer.headers.get('x-gw-unscanned') ?? '').includes('person_name'),
  };
}

/** What a reader other than ours sees. */
async function readByOthers(
  { mediaType, scanned, language, name }: CorpusDocument,
  bytes: Uint8Array,
): Promise<string> {
  if (scanned) return recognized(bytes, mediaType, language);
  if (mediaType === 'application/pdf') {
    await using file = await asFile(bytes, 'a.pdf');
    return (await output('pdftotext', [file.path, '-'])).toString('utf8');
  }
  if (isPackage(mediaType)) {
    const parts = Object.values(unzipSync(bytes)).map((data) => Buffer.from(data).toString('utf8'));
    return parts
      .join('\n')
      .replace(/<\/(?:w:p|a:p|text:p|text:h|svg:\w+|p|h1|li|td|title|si|is|c|t)>|<w:(?:br|tab)\/>/g, ' ')
      .replace(/<[^>]*>/g, '');
  }
  if (mediaType === 'message/rfc822')
    return partsOfMail(bytes)
      .map((part) => part.toString('utf8'))
      .join('\n');
  if (mediaType === 'application/rtf') return richTextOf(Buffer.from(bytes).toString('latin1'));
  const wide = /^utf-16(?:le|be)/.exec(name)?.[0] ?? 'utf-8';
  return new TextDecoder(wide).decode(bytes);
}

function stillRead(document: CorpusDocument, text: string): Examined['read'] {
  if (!document.scanned) return { still: [], of: 0 };
  // Of those on paper: what is in a file's metadata is no picture.
  const onPaper = document.planted.filter(({ place }) => place.endsWith('line'));
  const still = readableIn({ ...document, planted: onPaper }, text).map(({ place }) => place);
  return { still, of: onPaper.length };
}

/**
 * Each word as often as it was there. Where text is in pictures, only words count that could be read before, and they need
 * only be somewhere: what is read is not the same twice.
 */
function wordsKept({ words }: CorpusDocument, before: string | undefined, after: string): Examined['words'] {
  if (before !== undefined) {
    const [had, left] = [fold(before), fold(after)];
    const readable = words.filter((word) => had.includes(fold(word)));
    return { kept: readable.filter((word) => left.includes(fold(word))).length, of: readable.length };
  }
  const left = new Map<string, number>();
  for (const [word] of after.matchAll(/\p{L}+/gu)) left.set(word, (left.get(word) ?? 0) + 1);
  const kept = words.filter((word) => {
    const times = left.get(word) ?? 0;
    left.set(word, times - 1);
    return times > 0;
  });
  return { kept: kept.length, of: words.length };
}

/** Who comes several times has one tag, as often as he comes; nobody else has it. */
function tagFaults(
  document: CorpusDocument,
  mapping: Answer['mapping'],
  text: string,
  named: boolean,
): readonly string[] {
  const faults: string[] = [];
  const tokens = new Set(mapping.map(({ token }) => token));
  if (tokens.size !== mapping.length) faults.push('a tag stands for two');
  // In pictures tags are drawn, and recognition may have read a name otherwise.
  if (document.scanned || !named) return faults;
  const [tag, ...others] = tagsOf(document, mapping);
  if (tag === undefined || others.length > 0) return [...faults, `${others.length} more tags for one`];
  const times = text.split(tag).length - 1;
  const wanted = document.known.times;
  if (times !== wanted) faults.push(`a tag ${times} times for one who came ${wanted} times`);
  return faults;
}

function tagsOf({ known }: CorpusDocument, mapping: Answer['mapping']): readonly string[] {
  const spellings = new Set(known.spellings.map(fold));
  return mapping.filter(({ original }) => spellings.has(fold(original))).map(({ token }) => token);
}

/** Files of parts in a zip file. */
function isPackage(mediaType: string): boolean {
  return /officedocument|opendocument|epub/.test(mediaType);
}

async function openingFaults({ mediaType }: CorpusDocument, bytes: Uint8Array): Promise<readonly string[]> {
  await using file = await asFile(bytes, 'document');
  const checks: readonly (readonly [string, readonly string[]])[] =
    mediaType === 'application/pdf'
      ? [
          ['qpdf', ['--check', file.path]],
          ['mutool', ['info', file.path]],
        ]
      : isPackage(mediaType)
        ? [['unzip', ['-tq', file.path]]]
        : [];
  const faults = mediaType === 'application/json' && !isJson(bytes) ? ['it is no JSON any more'] : [];
  for (const [program, args] of checks)
    if (!(await succeeds(program, args))) faults.push(`${program} does not open it`);
  return faults;
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
