import { fixedSlot, type Slot } from '../slots.ts';

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
/** A unit ends between values once it has so many code units. */
const UNIT_LENGTH = 32_768;

/** A JSON text: everything between its strings and numbers stays unchanged. */
export interface JsonText {
  /** Stretches of the text, names and values with the text between them, strings without their escapes. */
  readonly units: readonly (readonly Slot[])[];
  /** The text as JSON, with what its strings and numbers hold now: a number that was changed is a string. */
  readonly write: () => string;
}

/** Reads JSON, or one JSON a line; undefined for a text that is neither. */
export function parseJson(text: string): JsonText | undefined {
  if (!/^\s*[[{"]/.test(text) || !(isJson(text) || isLines(text))) return undefined;
  const units: Slot[][] = [];
  const written: (() => string)[] = [];
  let unit: Slot[] = [];
  let length = 0;
  const structure = (between: string): void => {
    if (between === '') return;
    if (length >= UNIT_LENGTH && /[,\n]/.test(between)) {
      units.push(unit);
      [unit, length] = [[], 0];
    }
    unit.push(fixedSlot(between));
    written.push(() => between);
  };
  let at = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const isString = token.startsWith('"');
    structure(text.slice(at, index) + (isString ? '"' : ''));
    const original = isString ? (JSON.parse(token) as string) : token;
    const slot: Slot = { text: original };
    unit.push(slot);
    length += original.length;
    at = index + token.length - (isString ? 1 : 0);
    written.push(() => {
      if (slot.text === original) return isString ? token.slice(1, -1) : token;
      const changed = JSON.stringify(slot.text);
      return isString ? changed.slice(1, -1) : changed;
    });
  }
  structure(text.slice(at));
  units.push(unit);
  return { units, write: () => written.map((write) => write()).join('') };
}

function isLines(text: string): boolean {
  return text.split('\n').every((line) => line.trim() === '' || isJson(line));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
