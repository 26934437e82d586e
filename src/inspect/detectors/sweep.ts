import type { Span } from './detector.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { digitsEnd, isDigit, isLetter } from './characters.ts';
import type { Examiner } from './examiner.ts';
import { fold, isFoldable, type Folded } from './fold.ts';
import { lookKey, lookOf, LOOKS } from './look.ts';

/** Nothing found; shared, so that the usual answer allocates nothing. */
const NOTHING: readonly Span[] = Object.freeze([]);

/**
 * Builds the one pass over the characters: a look-up by character code decides which examiners look around it.
 * The answer holds every examiner's finds, unsorted and possibly overlapping between examiners.
 */
export function createSweep(examiners: readonly Examiner[]): Sweep {
  const routes = routesOf(examiners);
  const search = (text: string): readonly Span[] => {
    const found = passed(text, examiners, routes, true);
    if (found !== undefined) return found;
    const folded = fold(text);
    return unfolded(folded, passed(folded.text, examiners, routes, false));
  };
  const steps = function* (text: string): Steps<readonly Span[]> {
    const found = yield* passing(text, examiners, routes, true);
    if (found !== undefined) return found;
    const folded = fold(text);
    yield;
    return unfolded(folded, yield* passing(folded.text, examiners, routes, false));
  };
  return Object.assign(search, { steps });
}

function unfolded(folded: Folded, found: readonly Span[] = NOTHING): readonly Span[] {
  return found.length === 0 ? NOTHING : found.map((span) => folded.unfold(span));
}

/** The pass over a text, at once or in steps. */
export interface Sweep {
  (text: string): readonly Span[];
  steps(text: string): Steps<readonly Span[]>;
}

/** Which examiners an ASCII character triggers, each a bit at its position. */
interface Routes {
  readonly byCode: Int32Array;
  /** Those that want a run of digits, by the key of its look; 0 where no such look has been met yet: most never are. */
  readonly byLook: Int32Array;
  /** Finds the next character that triggers any, or that may have to be folded: the engine skips prose faster than we. */
  readonly next: RegExp;
}

/** Tells a look that nobody wants from one not met yet. */
const MET = 1 << 30;

function routesOf(examiners: readonly Examiner[]): Routes {
  const byCode = new Int32Array(128);
  const near = new Map<string, readonly string[]>();
  const anywhere = new Set<string>();
  examiners.forEach(({ triggers, near: places = [] }, index) => {
    const own = Map.groupBy(places, triggerOf);
    for (const character of triggers) {
      const code = character.charCodeAt(0);
      byCode[code] = (byCode[code] ?? 0) | (1 << index);
      const there = own.get(character);
      if (there) near.set(character, [...(near.get(character) ?? []), ...there]);
      else anywhere.add(character);
    }
  });
  for (const character of anywhere) near.delete(character);
  return { byCode, byLook: new Int32Array(LOOKS), next: nextOf([...anywhere], near) };
}

/** A class of characters, or one. */
const UNITS = /\[[^[\]]{1,16}\]|[^]/g;

/** The trigger that a place of `Examiner.near` is around. */
function triggerOf(place: string): string {
  return place[place.indexOf('>') + 1] ?? '';
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A class as it is written, any other character as itself. */
function escapedUnit(unit: string): string {
  return unit.length === 1 ? escaped(unit) : unit;
}

/** What may have to be folded: all beyond ASCII but the letters of European languages, which are frequent and never are. */
const BEYOND = '\\x80-\\xbf\\u0180-\\uffff';

/**
 * The pattern of `Routes.next`. It matches one character, and looks around it only where that is a frequent one: first at
 * the one behind it, which rules out most, and apart for letters and signs, as letters have few that may follow.
 */
function nextOf(anywhere: readonly string[], near: ReadonlyMap<string, readonly string[]>): RegExp {
  const frequent = [...near.keys()].map(escaped).join('');
  const any = `[${anywhere.map(escaped).join('')}${frequent}${BEYOND}]`;
  if (frequent === '') return new RegExp(any, 'g');
  const places = [...new Set([...near.values()].flat())];
  const groups = Map.groupBy(places, (place) => isLetter(triggerOf(place).charCodeAt(0)));
  const around = [...groups.values()].map(placesIn);
  return new RegExp(`${any}(?:(?<![${frequent}])|${around.join('|')})`, 'g');
}

/** What is true in any of these places of `Examiner.near`. */
function placesIn(places: readonly string[]): string {
  const firsts = new Set<string>();
  const whole = places.map((place) => {
    const [before = [], around = []] = place.split('>').map((side) => (side.match(UNITS) ?? []).map(escapedUnit));
    const [trigger = '', ...after] = around;
    firsts.add((after[0] ?? '').replace(/^\[|\]$/g, ''));
    return `${after.join('')}(?<=${before.join('')}${trigger}${'[^]'.repeat(after.length)})`;
  });
  return `(?=[${[...firsts].join('')}])(?=${whole.join('|')})`;
}

/** The examiners that want digits of this look; each is asked once for each look. */
function wanting(routes: Routes, examiners: readonly Examiner[], key: number): number {
  const known = routes.byLook[key] as number;
  if (known !== 0) return known;
  const look = lookOf(key);
  let wanted = MET;
  examiners.forEach((examiner, index) => {
    if (examiner.wants?.(look) !== false) wanted |= 1 << index;
  });
  routes.byLook[key] = wanted;
  return wanted;
}

/** How far a pass over a text has come: where it goes on, where each examiner may be called again, what was found. */
interface Progress {
  at: number;
  floors: Int32Array | undefined;
  found: Span[] | undefined;
}

const UNITS_A_STEP = 16 * 1024;

/** One pass; undefined when `foldable` and the text holds something to fold. */
function passed(
  text: string,
  examiners: readonly Examiner[],
  routes: Routes,
  foldable: boolean,
): readonly Span[] | undefined {
  const progress: Progress = { at: 0, floors: undefined, found: undefined };
  return pass(text, examiners, routes, foldable, progress, text.length) ? (progress.found ?? NOTHING) : undefined;
}

/** The same in steps. */
function* passing(
  text: string,
  examiners: readonly Examiner[],
  routes: Routes,
  foldable: boolean,
): Steps<readonly Span[] | undefined> {
  const progress: Progress = { at: 0, floors: undefined, found: undefined };
  for (let until = UNITS_A_STEP; ; until = progress.at + UNITS_A_STEP) {
    if (!pass(text, examiners, routes, foldable, progress, Math.min(until, text.length))) return undefined;
    if (progress.at >= text.length) return progress.found ?? NOTHING;
    yield;
  }
}

/** Looks around what triggers before `until`; false when `foldable` and there is something to fold. */
function pass(
  text: string,
  examiners: readonly Examiner[],
  routes: Routes,
  foldable: boolean,
  progress: Progress,
  until: number,
): boolean {
  const { next } = routes;
  let { at, floors, found } = progress;
  for (; at < until; at += 1) {
    const code = text.charCodeAt(at);
    if (foldable && code > 127 && isFoldable(code)) return false;
    let route = code < 128 ? (routes.byCode[code] as number) : 0;
    if (route === 0) {
      next.lastIndex = at + 1;
      at = next.test(text) ? next.lastIndex - 2 : text.length;
      continue;
    }
    const trigger = at;
    if (isDigit(code)) {
      const end = digitsEnd(text, at);
      route &= wanting(routes, examiners, lookKey(text, at, end));
      at = end - 1;
    }
    if (route === 0) continue;
    floors ??= new Int32Array(examiners.length);
    found ??= [];
    for (; route !== 0; route &= route - 1) {
      const index = 31 - Math.clz32(route & -route);
      const floor = floors[index] as number;
      if (trigger >= floor) floors[index] = (examiners[index] as Examiner).examine(text, trigger, floor, found);
    }
  }
  progress.at = at;
  progress.floors = floors;
  progress.found = found;
  return true;
}
