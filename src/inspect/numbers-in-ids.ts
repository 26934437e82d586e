import type { Leaf } from '#/wire/hub/codec.ts';
import type { Detection } from './detection.ts';
import { type Match, united } from './match.ts';
import { isHex } from './detectors/characters.ts';
import { ACCOUNT_SHAPES } from './detectors/iban.ts';

/** What may be a number of somebody in an id, and how it is written in texts. */
interface NumberInId extends Match {
  readonly read: string;
  readonly category: 'CREDIT_CARD' | 'IBAN' | 'PHONE';
}

/** A longer one is a text. */
const LONGEST_ID = 512;
const DIGITS = /\d(?:[ ._/:-]?\d){7}/;
const KINDS: ReadonlyMap<NumberInId['category'], ReadonlySet<string>> = new Map(
  (['CREDIT_CARD', 'IBAN', 'PHONE'] as const).map((kind) => [kind, new Set([kind])]),
);

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
/** A row of digits, or groups of a card behind the same sign; no fraction of a number by chance. */
const CARDS =
  /(?<!\d)(?<!(?<!\d)0\.)(?=(\d{14,19}(?!\d)|\d{4}([ ._/:-])(?:\d{4}\2\d{4}\2\d{1,7}|\d{6}\2\d{4,5})(?!\d)))/g;
const ACCOUNTS = /(?=([A-Z]{2}\d\d[A-Z0-9]{11,30}|[a-z]{2}\d{13,32}))/g;
/** Behind a plus only: other digits of an id are anything. */
const PHONES = /\+(?=(\d(?:[ ._/:-]?\d){6,14})(?!\d))/g;
const LONGEST = 40;

/**
 * Numbers in an id, whatever letters and digits of the id they touch: a word of it is none of a language, and hyphens part
 * its words as blanks part those of a text. Each is to be asked about alone. Not what hexadecimal digits have by chance.
 */
function* numbersIn(id: string): Generator<NumberInId> {
  const text = id.replaceAll(UUID, (uuid) => '_'.repeat(uuid.length));
  for (const { 1: digits = '', index } of text.matchAll(CARDS)) {
    if (isByChance(text, index, digits.length)) continue;
    yield { start: index, end: index + digits.length, read: digits.replaceAll(/[_/:]/g, '-'), category: 'CREDIT_CARD' };
  }
  for (const { 1: account = '', index } of text.matchAll(ACCOUNTS)) {
    const length = (ACCOUNT_SHAPES.get(account.slice(0, 2).toUpperCase())?.length ?? Infinity) + 4;
    if (account.length < length) continue;
    yield { start: index, end: index + length, read: account.slice(0, length), category: 'IBAN' };
  }
  for (const { 1: digits = '', index } of text.matchAll(PHONES)) {
    const end = index + 1 + digits.length;
    yield { start: index, end, read: `+${digits.replaceAll(/[_/:]/g, ' ')}`, category: 'PHONE' };
  }
}

/** Those of the kinds that are looked for. */
export function* numbersInId(id: string, detection: Detection, kinds?: ReadonlySet<string>): Generator<Match> {
  for (const { start, end, read, category } of numbersIn(id)) {
    if (kinds?.has(category) === false) continue;
    if (detection.findNow(read, KINDS.get(category)).length > 0) yield { start, end, category };
  }
}

/** The finds of each text with the numbers that are glued to the words of those that are ids. */
export function withNumbersInIds(
  leaves: readonly Leaf[],
  matches: readonly (readonly Match[])[],
  detection: Detection,
  kinds: ReadonlySet<string> | undefined,
): readonly (readonly Match[])[] {
  if (!leaves.some(mayHoldNumbers)) return matches;
  return matches.map((own, at) => {
    const leaf = leaves[at]!;
    return mayHoldNumbers(leaf) ? united(own, [...numbersInId(leaf.text, detection, kinds)]) : own;
  });
}

function mayHoldNumbers({ ofId, text }: Leaf): boolean {
  return ofId === true && text.length <= LONGEST_ID && DIGITS.test(text);
}

/** Whether so many hexadecimal digits stand around digits that they are a smaller part of those. */
function isByChance(text: string, start: number, length: number): boolean {
  let from = start;
  while (start - from < LONGEST && isHex(text.charCodeAt(from - 1))) from -= 1;
  let end = start + length;
  while (end - start < LONGEST && isHex(text.charCodeAt(end))) end += 1;
  return length * 3 <= (end - from) * 2;
}
