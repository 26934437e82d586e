import type { Span } from '../detector.ts';
import { isDigit } from './characters.ts';
import type { Examiner } from './examiner.ts';
import { fold, isFoldable } from './fold.ts';

/** Nothing found; shared, so that the usual answer allocates nothing. */
const NOTHING: readonly Span[] = Object.freeze([]);

/**
 * Builds the one pass over the characters: a look-up by character code decides which examiners look around it.
 * The answer holds every examiner's finds, unsorted and possibly overlapping between examiners.
 */
export function createSweep(examiners: readonly Examiner[]): (text: string) => readonly Span[] {
  const routes = routesOf(examiners);
  return (text) => {
    const found = pass(text, examiners, routes, true);
    if (found !== undefined) return found;
    const folded = fold(text);
    const inFolded = pass(folded.text, examiners, routes, false) ?? NOTHING;
    return inFolded.length === 0 ? NOTHING : inFolded.map((span) => folded.unfold(span));
  };
}

/** Which examiners an ASCII character triggers. */
interface Routes {
  /** For each code a position in `examiners`; 0 for the many that trigger none. */
  readonly byCode: Uint8Array;
  readonly examiners: readonly (readonly number[])[];
  /** Finds the next character that triggers any, or that may have to be folded: the engine skips prose faster than we. */
  readonly next: RegExp;
}

function routesOf(examiners: readonly Examiner[]): Routes {
  const byCode = new Uint8Array(128);
  const routes: (readonly number[])[] = [[]];
  for (let code = 0; code < 128; code += 1) {
    const character = String.fromCharCode(code);
    const triggered = examiners.flatMap(({ triggers }, index) => (triggers.includes(character) ? [index] : []));
    if (triggered.length > 0) byCode[code] = routes.push(triggered) - 1;
  }
  const triggers = Array.from(byCode, (route, code) => (route === 0 ? '' : `\\x${code.toString(16).padStart(2, '0')}`));
  return { byCode, examiners: routes, next: new RegExp(`[${triggers.join('')}\\x80-\\uffff]`, 'g') };
}

/** One pass; undefined when `foldable` and the text holds something to fold. */
function pass(
  text: string,
  examiners: readonly Examiner[],
  routes: Routes,
  foldable: boolean,
): readonly Span[] | undefined {
  const { next } = routes;
  let floors: number[] | undefined;
  let found: Span[] | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 127) {
      if (foldable && isFoldable(code)) return undefined;
      continue;
    }
    const route = routes.byCode[code] as number;
    if (route === 0) {
      next.lastIndex = at + 1;
      if (!next.test(text)) break;
      at = next.lastIndex - 2;
      continue;
    }
    floors ??= examiners.map(() => 0);
    found ??= [];
    for (const index of routes.examiners[route] as readonly number[]) {
      const floor = floors[index] as number;
      if (at >= floor) floors[index] = (examiners[index] as Examiner).examine(text, at, floor, found);
    }
    if (isDigit(code)) while (isDigit(text.charCodeAt(at + 1))) at += 1;
  }
  return found === undefined || found.length === 0 ? NOTHING : found;
}
