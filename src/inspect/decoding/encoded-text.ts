import type { Disguise } from './disguises.ts';
import { mayBeHexText, mayBeText, nextRun, runEnd, SHORTEST_RUN } from './suspicious-ranges.ts';

/** Rows of pairs of hexadecimal digits. */
const PAIRED = /(?<![\w+/=-])[\dA-Fa-f]{2}(?:[ :][\dA-Fa-f]{2}){7,}(?![\w+/=-])/g;
/** What follows a run of base64: more of it in the next lines, and what fills its end. */
const FOLLOWING = /(?:\r?\n[\w+/-]{4,})*={0,2}/y;
const HEX = /^[\dA-Fa-f]+$/;
const PAIRS = /^[\dA-Fa-f]{2}[ :]/;
/** What an encoded text must say to be worth a look: an address, digits enough for a number, or an encoded text again. */
const TELLING = /@|\d(?:[^\d\n]{0,3}\d){5}|^[\w+/-]{16,}={0,2}$/;
const TEXT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// oxlint-disable-next-line no-control-regex -- a text has none of these
const NO_TEXT = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f]/;

/** What parts such runs: lines, and the steps of a path. */
const PART = /[^/\r\n]+/g;

/** Texts written in base64 or in hexadecimal digits, and what they say. */
export function encodedTextIn(text: string): readonly Disguise[] {
  const found: Disguise[] = [];
  const add = (run: string, start: number): boolean => {
    const read = decoded(run);
    if (read === undefined || !TELLING.test(read)) return false;
    found.push({ start, end: start + run.length, read });
    return true;
  };
  for (const { 0: run, index } of text.matchAll(PAIRED)) add(run, index);
  for (let at = nextRun(text, 0); at >= 0;) {
    FOLLOWING.lastIndex = runEnd(text, at);
    FOLLOWING.test(text);
    const run = text.slice(at, FOLLOWING.lastIndex);
    if (!add(run, at)) {
      for (const { 0: part, index } of run.matchAll(PART)) {
        if (part.length >= SHORTEST_RUN && part.length < run.length) add(part, at + index);
      }
    }
    at = nextRun(text, FOLLOWING.lastIndex);
  }
  return found.sort((a, b) => a.start - b.start);
}

/** The text that a run stands for; undefined where it is no text. */
function decoded(run: string): string | undefined {
  if (PAIRS.test(run)) return textOf(Buffer.from(run.replace(/[ :]/g, ''), 'hex'));
  if (run.length % 2 === 0 && mayBeHexText(run, 0) && HEX.test(run)) {
    const read = textOf(Buffer.from(run, 'hex'));
    if (read !== undefined) return read;
  }
  return mayBeText(run, 0) ? textOf(Buffer.from(run, 'base64')) : undefined;
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = TEXT.decode(bytes);
    return NO_TEXT.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
