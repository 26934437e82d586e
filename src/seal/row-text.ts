import { canonicalJson, LOSES_ORDER } from '#/wire/document/canonical-json.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import type { Settlement } from '#/ports/limit-counters.ts';
import { totalTokens } from '#/wire/answer/usage.ts';
import { ROW_FIELDS, type Field } from './row-fields.ts';
import { inOrder, type Form, type Member, type ValueOf } from './row-forms.ts';
import { orderedRow } from './ordered-row.ts';
import type { AuditRow, RowPosition, UnplacedRow } from './row.ts';

type Columns = {
  readonly [
    K in keyof typeof ROW_FIELDS as (typeof ROW_FIELDS)[K] extends { readonly column: infer C extends string }
      ? C
      : never
  ]: ValueOf<(typeof ROW_FIELDS)[K]['form']>;
};

/** Values in the text of a row that columns repeat. */
export interface RowFacts extends Columns {
  /** Whether the text is RFC 8785. */
  readonly canonical: boolean;
}

/**
 * RFC 8785 text of a row at its position, which is stored and hashed. Lone surrogates, which RFC 8785 cannot represent, become
 * U+FFFD. Throws RangeError on a number that JSON cannot hold.
 */
export function canonicalRow(row: UnplacedRow, position: RowPosition): string {
  const copy = orderedRow(row, position);
  const { dlp, tool } = row;
  if (!allKeepOrder(dlp.findings) || (tool && !allKeepOrder(tool.result_findings)))
    return canonicalJson({ ...copy, dlp, tool });
  const text = JSON.stringify(copy);
  // `\ud…` is how lone surrogates are written; an escaped backslash before "ud" takes the slow way in vain.
  return text.includes('\\ud') ? canonicalJson(copy) : text;
}

function allKeepOrder(counts: Readonly<Record<string, number>>): boolean {
  for (const name in counts) if (LOSES_ORDER.test(name)) return false;
  return true;
}

/** Reads a row's text; undefined when it is not JSON or lacks a member. */
export function readRowText(text: string): RowFacts | undefined {
  return readPlainRowText(text) ?? parseRowText(text);
}

/**
 * Reads a row as this gateway writes it, if the needed fields have no escapes: matched against its whole canonical
 * layout, which takes an eighth of the time of parsing and writing it again. Undefined for any other text.
 */
export function readPlainRowText(text: string): RowFacts | undefined {
  const match = LAYOUT.exec(text);
  if (!match) return undefined;
  for (let at = 0; at < COUNTS.length; at++) {
    // Absent where a row lacks the field that holds the counts.
    const counts = match[COUNTS[at]!];
    if (counts !== undefined && !areInOrder(counts)) return undefined;
  }
  return {
    at: match[AT]!,
    callId: match[CALL_ID]!,
    cost: match[COST]!,
    organization: match[ORGANIZATION]!,
    sequence: Number(match[SEQUENCE]),
    strand: match[STRAND]!,
    workload: match[WORKLOAD]!,
    canonical: true,
  };
}

/** As readRowText, for any text. */
export function parseRowText(text: string): RowFacts | undefined {
  let row: Record<string, unknown>;
  let canonical: boolean;
  try {
    row = JSON.parse(text) as Record<string, unknown>;
    canonical = canonicalJson(row) === text;
  } catch {
    return undefined;
  }
  if (typeof row !== 'object' || row === null) return undefined;
  const facts: Record<string, unknown> = { canonical };
  for (const [name, { column, form }] of COLUMNS) {
    if (typeof row[name] !== (form.kind === 'number' ? 'number' : 'string')) return undefined;
    facts[column] = row[name];
  }
  return facts as unknown as RowFacts;
}

/** What a row says its call is to be settled at. */
export function settlementOf(sealed: SealedRow): Settlement {
  const { usage } = JSON.parse(sealed.row) as AuditRow;
  const { callId, organization, cost } = sealed;
  return { callId, organization, cost, tokens: usage ? totalTokens(usage) : 0 };
}

type ColumnField = Field & { readonly column: string };

const COLUMNS = inOrder<Field>(ROW_FIELDS).filter(
  (entry): entry is readonly [string, ColumnField] => entry[1].column !== undefined,
);

// Strings without escapes (nor surrogates, which might be lone), and whole numbers that a double holds exactly.
const CHARACTERS = String.raw`[^"\\\x00-\x1f\ud800-\udfff]*`;
// The escapes that RFC 8785 writes, but for those of rare control characters.
const TEXT = String.raw`"${CHARACTERS}(?:\\["\\nrtbf]${CHARACTERS})*"`;
const NUMBER = String.raw`(?:0|[1-9]\d{0,14})`;
const COUNT = `"[A-Z_][A-Z0-9_]*":${NUMBER}`;

/** Brackets and their content, in order. */
const BRACKETS: string[] = [];

/** The form of a value as this gateway writes it. */
function patternOf(form: Form): string {
  switch (form.kind) {
    // Whatever words a later build may know.
    case 'words':
    case 'text':
      return TEXT;
    case 'number':
    case 'quantity':
    case 'version':
      return NUMBER;
    case 'boolean':
      return '(?:true|false)';
    case 'null-or':
      return `(?:${patternOf(form.of)}|null)`;
    case 'list':
      return listPattern(patternOf(form.of));
    case 'counts':
      BRACKETS.push('counts');
      return String.raw`\{((?:${COUNT}(?:,${COUNT})*)?)\}`;
    case 'object':
      return objectPattern(form.members, patternOf);
  }
}

function listPattern(item: string): string {
  return String.raw`\[(?:${item}(?:,${item})*)?\]`;
}

/** A column is in brackets, and has no escapes: it is compared as it is written. */
function fieldPattern(form: Form, { column }: { readonly column?: string }): string {
  if (column === undefined) return patternOf(form);
  BRACKETS.push(column);
  return form.kind === 'number' ? `(${NUMBER})` : `"(${CHARACTERS})"`;
}

/** Members in canonical order. A comma goes with each that may be missing: the one after it, or else the one before it. */
function objectPattern<M extends Member>(
  members: Readonly<Record<string, M>>,
  valueOf: (form: Form, member: M) => string,
): string {
  const all = inOrder(members).map(([name, member]) => ({
    pattern: `"${name}":${valueOf(member.form, member)}`,
    optional: member.when !== undefined,
  }));
  const [first, last] = [all[0]!, all.at(-1)!];
  const parts = all.map((member) => {
    const { pattern, optional } = member;
    // One or more of which any may be missing: a comma stands before each but the first.
    if (first.optional && last.optional) return `(?:,?(?<=[{,])${pattern})?`;
    if (!last.optional) return member === last ? pattern : optional ? `(?:${pattern},)?` : `${pattern},`;
    return member === first ? pattern : optional ? `(?:,${pattern})?` : `,${pattern}`;
  });
  const inside = parts.join('');
  return first.optional && last.optional ? String.raw`\{(?!,)${inside}(?<!\{)\}` : String.raw`\{${inside}\}`;
}

/** The form of a row as this gateway writes it. */
export const LAYOUT = new RegExp(`^${objectPattern<Field>(ROW_FIELDS, fieldPattern)}$`);

const COUNTS = BRACKETS.flatMap((name, index) => (name === 'counts' ? index + 1 : []));
const bracket = (column: keyof Columns): number => BRACKETS.indexOf(column) + 1;
const [AT, CALL_ID, COST] = [bracket('at'), bracket('callId'), bracket('cost')];
const [ORGANIZATION, WORKLOAD] = [bracket('organization'), bracket('workload')];
const [STRAND, SEQUENCE] = [bracket('strand'), bracket('sequence')];

/** Whether the names in the inside of an object of counts are in order, each once. */
function areInOrder(counts: string): boolean {
  let before = '';
  for (let at = 0; at < counts.length; at = counts.indexOf(',', at) + 1 || counts.length) {
    const name = counts.slice(at + 1, counts.indexOf('"', at + 1));
    if (name <= before) return false;
    before = name;
  }
  return true;
}

const DAY_MS = 86_400_000;
const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const THREE = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

let knownDay = Number.NaN;
let knownDate = '';

/** RFC 3339 as `toISOString` writes it; undefined where it is not a whole millisecond of a year with four digits. */
export function timeText(at: number): string | undefined {
  const day = Math.floor(at / DAY_MS);
  if (day !== knownDay) {
    if (!(Math.abs(at) <= 8.64e15)) return undefined;
    knownDate = new Date(day * DAY_MS).toISOString().slice(0, -13);
    knownDay = day;
  }
  let rest = at - day * DAY_MS;
  const thousandths = rest % 1_000;
  if (!Number.isInteger(thousandths)) return undefined;
  rest = (rest - thousandths) / 1_000;
  const minutes = Math.floor(rest / 60);
  const hour = TWO[Math.floor(minutes / 60)]!;
  return `${knownDate}${hour}:${TWO[minutes % 60]!}:${TWO[rest % 60]!}.${THREE[thousandths]!}Z`;
}
