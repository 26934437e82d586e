import { isHex } from './detectors/characters.ts';
import { ACCOUNT_SHAPES } from './detectors/iban.ts';

/** Numbers that may stand in an id, by kind. */
export interface GluedNumber {
  readonly text: string;
  readonly kind: 'CREDIT_CARD' | 'IBAN' | 'PHONE';
}

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
export function* gluedNumbersIn(id: string): Generator<GluedNumber> {
  const text = id.replaceAll(UUID, '');
  for (const { 1: digits = '', index } of text.matchAll(CARDS)) {
    if (!isByChance(text, index, digits.length)) yield { text: digits.replaceAll(/[_/:]/g, '-'), kind: 'CREDIT_CARD' };
  }
  for (const { 1: account = '' } of text.matchAll(ACCOUNTS)) {
    const shape = ACCOUNT_SHAPES.get(account.slice(0, 2).toUpperCase());
    if (shape && account.length >= shape.length + 4) yield { text: account.slice(0, shape.length + 4), kind: 'IBAN' };
  }
  for (const { 1: digits = '' } of text.matchAll(PHONES))
    yield { text: `+${digits.replaceAll(/[_/:]/g, ' ')}`, kind: 'PHONE' };
}

/** Whether so many hexadecimal digits stand around digits that they are a smaller part of those. */
function isByChance(text: string, start: number, length: number): boolean {
  let from = start;
  while (start - from < LONGEST && isHex(text.charCodeAt(from - 1))) from -= 1;
  let end = start + length;
  while (end - start < LONGEST && isHex(text.charCodeAt(end))) end += 1;
  return length * 3 <= (end - from) * 2;
}
