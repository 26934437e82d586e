import type { Box } from '../page/page.ts';
import { escapeHeading, escapeLine } from './markdown-escape.ts';
import { around, middleOf, type TextLine } from './segments.ts';

/** A piece of a page as markdown. */
export interface Piece {
  readonly kind: 'heading' | 'paragraph' | 'item' | 'table' | 'figure';
  readonly markdown: string;
  readonly box: Box;
}

/** Sizes of headings by those of the text, the largest first. */
const HEADINGS: readonly (readonly [ratio: number, marks: string])[] = [
  [1.6, '#'],
  [1.32, '##'],
  [1.16, '###'],
];
const HEADING_LETTERS = 120;
const BULLET = /^([•◦▪‣·●○■□*»–—-]|[oe¢©°+«](?=\s))\s*/u;
/** What a recognizer makes of bullets, and what may be a word as well: only where several follow each other. */
const DOUBTFUL_BULLET = /^[oe¢©°+«]\s/u;
const SURE_BULLET = /^[•◦▪‣●○■□](?:\s|$)|^[·*»–—-]\s/u;
const NUMBER = /^(\d{1,3})[.)]\s+/;
/** In heights of letters. */
const PARAGRAPH_GAP = 0.9;
const INDENT = 0.8;
const SHORT_LINE = 4;

interface Marked {
  readonly line: TextLine;
  readonly level: string | undefined;
  readonly item: string | undefined;
}

/** The lines of a page that are no table, as headings, lists and paragraphs. `base`: size of most of the page's letters. */
export function piecesOf(lines: readonly TextLine[], base: number): readonly Piece[] {
  const marked = lines.map((line, index) => ({
    line,
    level: levelOf(line, lines[index - 1], lines[index + 1], base),
    item: itemOf(lines, index),
  }));
  const pieces: Piece[] = [];
  let group: Marked[] = [];
  const close = (): void => {
    if (group.length > 0) pieces.push(pieceOf(group));
    group = [];
  };
  for (const one of marked) {
    if (group.length > 0 && !goesOn(group, one)) close();
    group.push(one);
  }
  close();
  return nested(pieces, base);
}

/** The size that most letters have. */
export function baseSize(lines: readonly TextLine[]): number {
  return middleOf(lines.flatMap(({ size, text }) => Array.from({ length: Math.min(200, text.length) }, () => size)));
}

function levelOf(
  { size, text, bold, block }: TextLine,
  before: TextLine | undefined,
  after: TextLine | undefined,
  base: number,
): string | undefined {
  if (text.length > HEADING_LETTERS || !/\p{L}{2}/u.test(text)) return undefined;
  const ratio = size / base;
  const [, marks] = HEADINGS.find(([least]) => ratio >= least) ?? [];
  if (marks !== undefined) return ratio < 1.6 && /[.,;]$/.test(text) ? undefined : marks;
  const alone = before?.block !== block && (after?.block !== block || !after.bold);
  return bold && alone && ratio >= 0.98 && !/[.,;:]$/.test(text) && text.length < 80 ? '###' : undefined;
}

/** The mark of the list item that begins here: `-`, or its number. */
function itemOf(lines: readonly TextLine[], index: number): string | undefined {
  const text = lines[index]?.text ?? '';
  if (SURE_BULLET.test(text)) return /^\S\s*$/.test(text) ? undefined : '-';
  const beside = [lines[index - 1]?.text ?? '', lines[index + 1]?.text ?? ''];
  if (DOUBTFUL_BULLET.test(text)) {
    const first = text.charAt(0);
    return beside.some((other) => other.startsWith(`${first} `) || SURE_BULLET.test(other)) ? '-' : undefined;
  }
  const number = numberOf(text);
  if (number === undefined) return undefined;
  const near = lines.slice(Math.max(0, index - 6), index + 7).map((line) => numberOf(line.text));
  return near.includes(number + 1) || near.includes(number - 1) ? `${number}.` : undefined;
}

function numberOf(text: string): number | undefined {
  const found = NUMBER.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Whether a line belongs to the piece that the lines before it began. */
function goesOn(group: readonly Marked[], next: Marked): boolean {
  const first = group[0];
  const last = group.at(-1);
  if (!first || !last || next.item !== undefined) return false;
  if (next.level !== first.level) return false;
  const { size } = next.line;
  const gap = next.line.box.y0 - last.line.box.y1;
  if (first.level !== undefined) return gap < size && gap > -size;
  if (isCut(last.line.text, next.line.text)) return true;
  if (first.item !== undefined)
    return gap < PARAGRAPH_GAP * size && gap > -size && next.line.box.x0 > first.line.box.x0 + INDENT * 0.5 * size;
  if (next.line.block !== last.line.block) return false;
  return gap < PARAGRAPH_GAP * size && !isIndented(group, next.line);
}

/** A word that was cut at the end of a line goes on in lower case, wherever that is. */
function isCut(text: string, next: string): boolean {
  return /\p{L}[-‐]$/u.test(text) && /^\p{Ll}/u.test(next);
}

/** A first line that stands in, after one that ended early. */
function isIndented(group: readonly Marked[], { box, size }: TextLine): boolean {
  const rest = group.slice(1);
  const last = group.at(-1);
  if (!last || rest.length === 0) return false;
  const left = rest.reduce((least, { line }) => Math.min(least, line.box.x0), Infinity);
  const right = group.reduce((most, { line }) => Math.max(most, line.box.x1), -Infinity);
  return box.x0 > left + INDENT * size && last.line.box.x1 < right - SHORT_LINE * size;
}

function pieceOf(group: readonly Marked[]): Piece {
  const [first] = group;
  const box = around(group.map(({ line }) => line.box));
  const text = joined(group.map(({ line }) => line.text));
  if (first?.item !== undefined) {
    const content = text.replace(first.item === '-' ? BULLET : NUMBER, '');
    return { kind: 'item', markdown: `${first.item} ${escapeLine(content)}`, box };
  }
  if (first?.level !== undefined) return { kind: 'heading', markdown: `${first.level} ${escapeHeading(text)}`, box };
  return { kind: 'paragraph', markdown: escapeLine(text), box };
}

/** Lines as one; words that were cut at their ends are whole again. */
function joined(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    if (text === '') text = line;
    else if (isCut(text, line)) text = text.slice(0, -1) + line;
    // `Nord-` and `Süd`: the hyphen is the word's own.
    else if (/\p{L}[-‐]$/u.test(text) && /^\p{Lu}/u.test(line)) text += line;
    else text += ` ${line}`;
  }
  return text;
}

/** Items that stand further right than the one before belong below it. */
function nested(pieces: readonly Piece[], base: number): readonly Piece[] {
  let stack: number[] = [];
  return pieces.map((piece) => {
    if (piece.kind !== 'item') {
      stack = [];
      return piece;
    }
    const { x0 } = piece.box;
    while (stack.length > 1 && x0 < (stack.at(-1) ?? 0) - base) stack.pop();
    if (stack.length === 0 || x0 > (stack.at(-1) ?? 0) + base) stack.push(x0);
    return { ...piece, markdown: `${'   '.repeat(Math.min(3, stack.length - 1))}${piece.markdown}` };
  });
}
