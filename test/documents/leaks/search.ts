import { twoLetters, type CorpusDocument, type Planted } from '../corpus/planting.ts';
import { lettersByGlyph } from '../corpus/type0-font.ts';
import { everythingIn } from './means.ts';
import { richTextOf } from './written-otherwise.ts';

/** Something of a person that is in a file. */
export interface Leak {
  readonly place: string;
  readonly what: 'name' | Planted['fact'];
  /** How it was found. */
  readonly by: string;
}

/** What to look for, and where it was planted. */
interface Needle extends Omit<Leak, 'by'> {
  readonly isIn: (text: string, folded: string) => boolean;
}

/** Everything that was planted in a document and is in these bytes, by whatever means; each place once. */
export async function leaksIn(document: CorpusDocument, bytes: Uint8Array): Promise<readonly Leak[]> {
  const needles = everyNeedle(document);
  const leaks = new Map<Needle, Leak>();
  for (const { by, bytes: seen } of await everythingIn(bytes, document.mediaType)) {
    for (const text of readings(seen)) {
      const folded = fold(text);
      for (const needle of needles) {
        if (leaks.has(needle) || !needle.isIn(text, folded)) continue;
        leaks.set(needle, { place: needle.place, what: needle.what, by });
      }
    }
  }
  return [...leaks.values()];
}

/** The same of a text that a program has read. */
export function leaksInText(document: CorpusDocument, text: string): readonly Omit<Leak, 'by'>[] {
  const folded = fold(text);
  return everyNeedle(document).filter((needle) => needle.isIn(text, folded));
}

function everyNeedle({ planted, known }: CorpusDocument): readonly Needle[] {
  const { name, iban } = known.person;
  return [...planted, { place: 'several places', name, fact: 'iban' as const, value: iban }].flatMap(needlesOf);
}

/** Of a text that was recognized: which persons can be read in it, by name or by what is said of them. */
export function readableIn({ planted }: CorpusDocument, text: string): readonly Planted[] {
  const folded = fold(text);
  return planted.filter((one) => needlesOf(one).some((needle) => needle.isIn(text, folded)));
}

/** A surname or a number is enough: none of them is a word of any language, or of any format. */
function needlesOf({
  place,
  name,
  fact,
  value,
}: Omit<Planted, 'fact'> & { readonly fact: Planted['fact'] }): readonly Needle[] {
  const found: Needle[] = [];
  const family = name.split(' ').at(-1) ?? '';
  const spelled = [...new Set([fold(family), fold(twoLetters(family))])];
  if (family !== '') found.push({ place, what: 'name', isIn: (_, text) => spelled.some((one) => text.includes(one)) });
  if (value === '') return found;
  const whole = fold(fact === 'email' ? (value.split('@')[0] ?? '') : value);
  // Without dots an address of a network is any number.
  const isIn =
    fact === 'ip' ? (text: string) => text.includes(value) : (_: string, folded: string) => folded.includes(whole);
  return [...found, { place, what: fact, isIn }];
}

/** What bytes say as text: in the encodings that there are, with what languages of the web and of print escape. */
export function readings(bytes: Uint8Array): readonly string[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const even = (from: number): Buffer => Buffer.from(file.subarray(from, from + ((file.length - from) & ~1)));
  const latin = file.toString('latin1');
  const utf8 = file.toString('utf8');
  const wide = [0, 1].flatMap((from) => [even(from).toString('utf16le'), even(from).swap16().toString('utf16le')]);
  const central = ['windows-1250', 'iso-8859-2'].map((encoding) => new TextDecoder(encoding).decode(file));
  const rich = latin.includes('\\rtf') ? [richTextOf(latin)] : [];
  return [...rich, latin, utf8, unescaped(utf8), withoutTags(unescaped(utf8)), hexadecimal(latin), ...central, ...wide];
}

function unescaped(text: string): string {
  return text
    .replace(/\\u([\da-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/<w:sym [^>]*w:char="([\dA-F]{4})"\/>/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/&#x([\da-f]{1,5});/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replace(/&#(\d{1,6});/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&\w{2,6};|\\(?=[^\w\s])/g, '')
    .replace(/(?:[%=#][\dA-F]{2})+/gi, (run) => Buffer.from(run.replace(/[%=#]/g, ''), 'hex').toString('utf8'))
    .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

function withoutTags(text: string): string {
  return text.replace(/<[^<>]*>/g, '');
}

const LETTERS = lettersByGlyph();

/** Strings that are written as digits: letters of one byte or of two, or numbers of glyphs, which stand for letters too. */
function hexadecimal(text: string): string {
  const found = (text.match(/<[\da-fA-F\s]{4,}>/g) ?? []).map((run) =>
    Buffer.from(run.replace(/[^\da-fA-F]/g, ''), 'hex'),
  );
  const wide = found.map((run) =>
    Buffer.from(run.subarray(0, run.length & ~1))
      .swap16()
      .toString('utf16le'),
  );
  const glyphs = wide.map((run) => run.replace(/[^]/g, (number) => LETTERS.get(number.charCodeAt(0)) ?? ' ')).join('');
  return [...found.map((run) => run.toString('latin1')), ...wide, glyphs].join('\n');
}

/** Letters without signs and digits, lower case, nothing else. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/[^a-z0-9]+/g, '');
}
