import type { Steps } from '#/wire/document/steps.ts';
import type { Match } from '../match.ts';
import { digitsEnd, isDigit, isLetter } from './characters.ts';
import type { DetectorRule } from './detector.ts';
import { DIGIT_CONTEXTS, digitContextKey, digitContextOf } from './digit-context.ts';
import { fold, isFoldable, type Folded } from './fold.ts';
import { createDetectors, type DetectionOptions } from './list.ts';
import { ranksOf, resolveOverlaps, type Rank } from './overlaps.ts';

/** Finds personal data and secrets of every structured kind in one pass over a text. */
export interface Scanner {
  /** The categories it can find. */
  readonly categories: ReadonlySet<string>;
  /**
   * The matches, sorted and without overlaps, with offsets in UTF-16 code units of the text as given. With `categories`
   * it looks only for those; it ignores unknown names. Time grows with the length of the text, whatever it says.
   */
  readonly find: (text: string, categories?: ReadonlySet<string>) => readonly Match[];
  /** The same in steps. */
  readonly steps: (text: string, categories?: ReadonlySet<string>) => Steps<readonly Match[]>;
}

/** Builds the scanner once per process; it is immutable to its callers. Throws on an unknown phone region. */
export function createScanner(options?: DetectionOptions): Scanner {
  return scannerOf(createDetectors(options));
}

/** Detectors of which a scanner is built at most: each has a bit of a number, and one tells a context that was met. */
const MOST_DETECTORS = 30;

/** A scanner of these detectors; tests build one of a single detector. */
export function scannerOf(detectors: readonly DetectorRule[]): Scanner {
  if (detectors.length > MOST_DETECTORS) throw new RangeError(`a scanner has at most ${MOST_DETECTORS} detectors`);
  const ranks = ranksOf(detectors);
  // By selection of detectors: few in practice, one a policy.
  const selections = new Map<number, Selection>();
  const known = new WeakMap<ReadonlySet<string>, { readonly size: number; readonly selection: Selection }>();
  const select = (categories: ReadonlySet<string>): Selection => {
    const last = known.get(categories);
    if (last?.size === categories.size) return last.selection;
    const chosen = detectors.filter(({ category }) => categories.has(category));
    const mask = chosen.reduce((bits, detector) => bits | (1 << detectors.indexOf(detector)), 0);
    let selection = selections.get(mask);
    if (selection === undefined) selections.set(mask, (selection = selectionOf(chosen)));
    known.set(categories, { size: categories.size, selection });
    return selection;
  };
  const all = selectionOf(detectors);
  return {
    categories: new Set(detectors.map(({ category }) => category)),
    find: (text, categories) => {
      const selection = categories === undefined ? all : select(categories);
      const progress: Progress = { at: 0, floors: undefined, found: undefined };
      if (!pass(text, selection, true, progress, text.length)) return findFolded(text, selection, ranks);
      sweep(text, selection, progress, 0, text.length);
      const { found } = progress;
      if (found === undefined || found.length === 0) return NOTHING;
      return found.length > 1 ? resolveOverlaps(found, ranks) : found;
    },
    *steps(text, categories) {
      const selection = categories === undefined ? all : select(categories);
      const found = yield* passInSteps(text, selection, true);
      if (found !== undefined) return resolveOverlaps(found, ranks);
      const folded = fold(text);
      yield;
      return resolveOverlaps(unfolded(folded, yield* passInSteps(folded.text, selection, false)), ranks);
    },
  };
}

/** Nothing found; shared, so that the usual answer allocates nothing. */
const NOTHING: readonly Match[] = Object.freeze([]);

/** Detectors that look for some categories, and what triggers them. */
interface Selection {
  readonly detectors: readonly DetectorRule[];
  readonly routes: Routes;
  readonly sweepers: readonly DetectorRule[];
}

function selectionOf(detectors: readonly DetectorRule[]): Selection {
  return {
    detectors,
    routes: routesOf(detectors),
    sweepers: detectors.filter((detector) => 'sweep' in detector),
  };
}

function findFolded(text: string, selection: Selection, ranks: ReadonlyMap<string, Rank>): readonly Match[] {
  const folded = fold(text);
  const progress = newProgress();
  pass(folded.text, selection, false, progress, folded.text.length);
  sweep(folded.text, selection, progress, 0, folded.text.length);
  return resolveOverlaps(unfolded(folded, progress.found), ranks);
}

function unfolded(folded: Folded, found: readonly Match[] = NOTHING): readonly Match[] {
  return found.length === 0 ? NOTHING : found.map((match) => folded.unfold(match));
}

/** Which detectors an ASCII character triggers, each a bit at its position. */
interface Routes {
  readonly byCode: Int32Array;
  /** Those that a run of digits is for, by the key of its context; 0 where none such has been met yet: most never are. */
  readonly byContext: Int32Array;
  /** Finds the next character that triggers any, or that may have to be folded: the engine skips prose faster than we. */
  readonly next: RegExp;
}

/** Tells a context that every prefilter refuses from one not met yet. */
const MET = 1 << 30;

function routesOf(detectors: readonly DetectorRule[]): Routes {
  const byCode = new Int32Array(128);
  const near = new Map<string, readonly string[]>();
  const anywhere = new Set<string>();
  detectors.forEach(({ triggers, near: places = [] }, index) => {
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
  return { byCode, byContext: new Int32Array(DIGIT_CONTEXTS), next: nextOf([...anywhere], near) };
}

/** A class of characters, or one. */
const UNITS = /\[[^[\]]{1,16}\]|[^]/g;

/** The trigger that a place of `Detector.near` is around. */
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

/** Holds in any of these places of `Detector.near`. */
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

/** The detectors whose prefilter passes digits in this context; each is asked once for each context. */
function prefiltered({ detectors, routes }: Selection, key: number): number {
  const known = routes.byContext[key] as number;
  if (known !== 0) return known;
  const context = digitContextOf(key);
  let passed = MET;
  detectors.forEach((detector, index) => {
    if (detector.prefilter?.(context) !== false) passed |= 1 << index;
  });
  routes.byContext[key] = passed;
  return passed;
}

/** Progress of a pass over a text: where it continues, where each detector may be called again, and the matches. */
interface Progress {
  at: number;
  floors: Int32Array | undefined;
  found: Match[] | undefined;
}

function newProgress(): Progress {
  return { at: 0, floors: undefined, found: undefined };
}

const UNITS_A_STEP = 16 * 1024;

/** The whole pass in steps; undefined when `foldable` and the text holds something to fold. */
function* passInSteps(text: string, selection: Selection, foldable: boolean): Steps<readonly Match[] | undefined> {
  const progress = newProgress();
  for (let until = UNITS_A_STEP; ; until = progress.at + UNITS_A_STEP) {
    const from = progress.at;
    if (!pass(text, selection, foldable, progress, Math.min(until, text.length))) return undefined;
    sweep(text, selection, progress, from, Math.min(progress.at, text.length));
    if (progress.at >= text.length) return progress.found ?? NOTHING;
    yield;
  }
}

/** Has detectors read the words of a stretch that want to. */
function sweep(text: string, { sweepers }: Selection, progress: Progress, from: number, to: number): void {
  for (const detector of sweepers)
    if (detector.sweeps?.(text) === true) detector.sweep?.(text, from, to, (progress.found ??= []));
}

/** Has detectors look around what triggers before `until`; false when `foldable` and there is something to fold. */
function pass(text: string, selection: Selection, foldable: boolean, progress: Progress, until: number): boolean {
  const { detectors, routes } = selection;
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
      route &= prefiltered(selection, digitContextKey(text, at, end));
      at = end - 1;
    }
    if (route === 0) continue;
    floors ??= new Int32Array(detectors.length);
    found ??= [];
    for (; route !== 0; route &= route - 1) {
      const index = 31 - Math.clz32(route & -route);
      const floor = floors[index] as number;
      if (trigger >= floor) floors[index] = (detectors[index] as DetectorRule).detect(text, trigger, floor, found);
    }
  }
  progress.at = at;
  progress.floors = floors;
  progress.found = found;
  return true;
}
