import { isHex } from '../detectors/characters.ts';
import type { Disguise } from './disguises.ts';

/** A shorter run holds no address or number that anybody would know. */
export const SHORTEST_RUN = 16;
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

/** The value of each character of base64; 64 for what is none. */
const VALUES = new Uint8Array(128).fill(64);
for (const alphabet of [
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_',
]) {
  for (let value = 0; value < 64; value += 1) VALUES[alphabet.charCodeAt(value)] = value;
}

/** Whether the first twelve bytes that base64 stands for may begin a text; most words and ids tell at once that they do not. */
export function mayBeText(run: string, start: number): boolean {
  let bits = 0;
  let following = 0;
  for (let at = 0; at < 16; at += 1) {
    bits = (bits << 6) | (VALUES[run.charCodeAt(start + at)] ?? 0);
    if (at % 4 !== 3) continue;
    for (let shift = 16; shift >= 0; shift -= 8) {
      following = followingIn((bits >> shift) & 255, following);
      if (following < 0) return false;
    }
    bits = 0;
  }
  return true;
}

/** The same of the first eight bytes that hexadecimal digits stand for. */
export function mayBeHexText(run: string, start: number): boolean {
  let following = 0;
  for (let at = start; at < start + 16; at += 2) {
    const byte = Number.parseInt(run.slice(at, at + 2), 16);
    if (!isHex(run.charCodeAt(at)) || !isHex(run.charCodeAt(at + 1))) return false;
    following = followingIn(byte, following);
    if (following < 0) return false;
  }
  return true;
}

/** How many bytes of a character of UTF-8 are still to come behind a byte; -1 where it is of no text. */
function followingIn(byte: number, expected: number): number {
  if (expected > 0) return byte >= 0x80 && byte < 0xc0 ? expected - 1 : -1;
  if (byte < 0x80) return (byte >= 32 && byte !== 127) || byte === 9 || byte === 10 || byte === 13 ? 0 : -1;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

/** The end of the run of characters of base64 at `at`, or `at` where it is too short to hold a text. */
export function runEnd(text: string, at: number): number {
  let end = at;
  while (isOfRun(text.charCodeAt(end))) end += 1;
  return end - at >= SHORTEST_RUN ? end : at;
}

function isOfRun(code: number): boolean {
  return code < 128 && VALUES[code] !== 64;
}

/**
 * Where the next run of characters of base64 begins that is long enough for a text, from `from` on; -1 where there is
 * none. One character in sixteen is looked at where words are short.
 */
export function nextRun(text: string, from: number): number {
  for (let at = from + SHORTEST_RUN - 1; at < text.length;) {
    let start = at;
    while (start >= from && isOfRun(text.charCodeAt(start))) start -= 1;
    if (at - start >= SHORTEST_RUN) return start + 1;
    at = start + SHORTEST_RUN;
  }
  return -1;
}
