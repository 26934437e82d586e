import type { Match } from '../match.ts';
import { ACCOUNT_SHAPES } from '../detectors/iban.ts';

const SEPARATOR = '[ .,:;-]';
/** Groups of capitals and digits. */
const ROW = new RegExp(`(?<!\\p{L})[A-Z\\d]+(?:${SEPARATOR}{1,3}[A-Z\\d]+)*`, 'gu');
const GROUP = /[A-Z\d]+/g;
const IBAN_WORD = /^[I1L]?[BR8]A[NH]$/;
/** The country of an account, and digits that check it or what they are taken for. */
const ACCOUNT_HEAD = /^[A-Z]{2}(?:\d[\dOILSBZQDG]|[OILSBZQDG]\d)/;
/** By which the length of an account may be off where its country tells it. */
const ACCOUNT_SLACK = 2;
const ACCOUNT_DIGITS = 8;
/** Of the digits that an account of a country has, those that must have been read as such. */
const READ_DIGITS = 0.7;
const LONGEST_ACCOUNT = 34;
const MOST_GROUPS = 17;

const FOURS = new RegExp(`(?<![\\d.,-])(?:\\d{3,5}${SEPARATOR}{1,3}){3}\\d{3,5}(?!\\d)`, 'g');
const CARD_WORD = /(?:visa|master ?card|amex|card|karte|tarjeta|carta|kaart|karta|cart[aã]o|carte)[^\p{L}\d]{0,6}$/iu;
/** What cards begin with. */
const ISSUED = /^[2-6]/;
const YEAR = /^(?:19|20)\d\d$/;

const OCTETS = /(?<![\d.,])\d{1,3}(?:[.,:;] ?\d{1,3}){3}(?![.,]?\d)/g;
const IP_WORD = /\bIP\b[^\p{L}\d]{0,4}$/iu;
/** Fewer digits are the number of a section. */
const OCTET_DIGITS = 8;
const THOUSANDS = /^\d{1,3}(?:\D\d{3})+\D\d{2,3}$/;

/**
 * Numbers of accounts, cards and machines in text that was recognized, by their layout alone: one digit that was misread
 * makes check digits wrong.
 */
export function misreadNumbers(text: string): readonly Match[] {
  return [...accounts(text), ...cards(text), ...machines(text)];
}

/** Numbers announced as IBAN, or with the country and about the length of one. */
function accounts(text: string): readonly Match[] {
  const found: Match[] = [];
  for (const { 0: row, index } of text.matchAll(ROW)) {
    const groups = Array.from(row.matchAll(GROUP), ({ 0: group, index: at }) => ({ group, at: index + at }));
    for (let first = 0; first < groups.length; first++) {
      const told = IBAN_WORD.test(groups[first - 1]?.group ?? '');
      const end = accountEnd(groups.slice(first, first + MOST_GROUPS), told);
      const start = groups[first]?.at ?? 0;
      if (end > start && start >= (found.at(-1)?.end ?? 0)) found.push({ start, end, category: 'IBAN' });
    }
  }
  return found;
}

interface Group {
  readonly group: string;
  readonly at: number;
}

/** Where the account ends that begins with the first of these groups; 0 where none does. */
function accountEnd(groups: readonly Group[], told: boolean): number {
  const [first = '', second = ''] = groups.map(({ group }) => group);
  const head = first.length === 2 ? first + second : first;
  const shape = ACCOUNT_HEAD.test(head) ? ACCOUNT_SHAPES.get(head.slice(0, 2)) : undefined;
  if (!told && shape === undefined) return 0;
  const most = shape === undefined ? LONGEST_ACCOUNT : shape.length + 4 + ACCOUNT_SLACK;
  let read = '';
  let compact = '';
  let end = 0;
  for (const { group, at } of groups) {
    read += group;
    if (read.length > most) break;
    // Letters at its end are the next word.
    if (/\d/.test(group)) [compact, end] = [read, at + group.length];
  }
  const digits = compact.match(/\d/g)?.length ?? 0;
  if (shape === undefined || (told && digits >= ACCOUNT_DIGITS)) return digits >= ACCOUNT_DIGITS ? end : 0;
  const wanted = Math.max(ACCOUNT_DIGITS, READ_DIGITS * shape.replace(/[^n]/g, '').length);
  return digits >= wanted && compact.length >= most - 2 * ACCOUNT_SLACK ? end : 0;
}

/** Four groups of four digits of which one may be short or long. */
function cards(text: string): readonly Match[] {
  return Array.from(text.matchAll(FOURS)).flatMap(({ 0: number, index }) => {
    const fours = (number.match(/\d+/g) ?? []).filter(({ length }) => length === 4);
    if (fours.length < 3 || fours.every((group) => YEAR.test(group))) return [];
    const told = ISSUED.test(number) || CARD_WORD.test(text.slice(Math.max(0, index - 20), index));
    return told ? [{ start: index, end: index + number.length, category: 'CREDIT_CARD' }] : [];
  });
}

/** Four numbers with dots between, or what dots are taken for. */
function machines(text: string): readonly Match[] {
  return Array.from(text.matchAll(OCTETS)).flatMap(({ 0: number, index }) => {
    const octets = number.match(/\d+/g) ?? [];
    const evident =
      octets.join('').length >= OCTET_DIGITS &&
      octets.every((octet) => Number(octet) < 256) &&
      (number.match(/\./g)?.length ?? 0) >= 2 &&
      !THOUSANDS.test(number);
    const told = evident || IP_WORD.test(text.slice(Math.max(0, index - 10), index));
    return told ? [{ start: index, end: index + number.length, category: 'IP_ADDRESS' }] : [];
  });
}
