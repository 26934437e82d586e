import type { TextUnit } from '#/ports/documents.ts';
import type { Detection } from '../detection.ts';
import type { Match } from '../match.ts';

const ADDRESS = 'EMAIL';
/** A longer word is no part of an address, nor looked at. // RFC 5321 4.5.3.1.3 */
const LONGEST = 256;
const LAST = /[\p{L}\p{N}][^\s<>()[\]"',;:]*$/u;
const FIRST = /^[^\s<>()[\]"',;:]*[\p{L}\p{N}]/u;
/** An address that is whole, and what an address that goes on may end with. */
const WHOLE = /@[^@]*\.[a-z]{2,}\.?$/i;
const GOES_ON = /[-_+@]$/;

/** The last word of a unit and the first one of the next, as one. */
interface Joint {
  readonly index: number;
  readonly text: string;
  /** Where it begins in its unit, and how much of it stands there; a hyphen at its end may not be in `text`. */
  readonly start: number;
  readonly length: number;
  readonly end: number;
  /** Where it goes on in the next one. */
  readonly next: number;
}

/**
 * Addresses of mail that go on in the next unit: a document may break one over the end of a paragraph. Each part is found
 * in its unit, as a form of the whole.
 */
export async function splitAddresses(
  units: readonly TextUnit[],
  detection: Detection,
): Promise<readonly (readonly Match[])[]> {
  const found = units.map((): Match[] => []);
  const joints = units.flatMap((unit, index) => jointsOf(unit, units[index + 1], index));
  if (joints.length === 0) return found;
  const texts = joints.map(({ text }) => text);
  const matches = await detection.find(texts, new Set([ADDRESS]));
  for (const [at, { index, text, start, length, end, next }] of joints.entries()) {
    const whole = matches[at]?.find((match) => match.start < length && match.end > length);
    if (!whole) continue;
    const about = { category: ADDRESS, term: text.slice(whole.start, whole.end) };
    found[index]?.push({ ...about, start: start + whole.start, end });
    found[index + 1]?.push({ ...about, start: next, end: next + whole.end - length });
  }
  return found;
}

function jointsOf(unit: TextUnit, following: TextUnit | undefined, index: number): readonly Joint[] {
  if (following?.visibility !== unit.visibility) return [];
  const text = unit.text.trimEnd();
  const [last = ''] = LAST.exec(text.slice(-LONGEST)) ?? [];
  const next = following.text.length - following.text.trimStart().length;
  const [first = ''] = FIRST.exec(following.text.slice(next, next + LONGEST)) ?? [];
  if (first === '' || !`${last}${first}`.includes('@')) return [];
  if (!GOES_ON.test(last) && (!last.includes('@') || WHOLE.test(last))) return [];
  const place = { index, start: text.length - last.length, end: text.length, next };
  const joint = (before: string): Joint => ({ ...place, text: before + first, length: before.length });
  return last.endsWith('-') ? [joint(last.slice(0, -1)), joint(last)] : [joint(last)];
}
