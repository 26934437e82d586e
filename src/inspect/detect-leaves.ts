import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Slices } from '#/runtime/loop-slices.ts';
import { finish } from '#/wire/document/steps.ts';
import type { Leaf } from '#/wire/hub/codec.ts';
import { matchesInSource, viewSkipping } from './decoding/decoded-view.ts';
import { boundariesOf, withBoundaryMatches } from './decoding/text-boundaries.ts';
import type { TextRun } from './decoding/text-runs.ts';
import { DetectionUnavailable, SearchTooLarge, type Detection, type Matches } from './detection.ts';
import { together, type Match } from './match.ts';
import { withNumbersInIds } from './numbers-in-ids.ts';
import { mayHoldName, NAME_CATEGORIES, NAMES, NamesUnavailable } from './names/detect-names.ts';

/** Matches of texts, and kinds that policy wants found but that were not searched for. */
export interface Detected {
  readonly matches: Matches;
  /** As `x-gw-unscanned` tells it. */
  readonly missed: readonly string[];
}

/**
 * The matches of every leaf, in order, and the kinds not searched for: in each text, over the boundaries of texts that
 * a model reads one after the other, and in ids. `source`: the document. `slices`: those that a large request takes.
 */
export function detectInLeaves(
  leaves: readonly Leaf[],
  source: string,
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
  slices?: Slices,
): Detected | Promise<Detected> {
  const all: string[] = [];
  let hasIds = false;
  let skips = false;
  for (const { text, ofId, skipped } of leaves) {
    all.push(text);
    hasIds ||= ofId === true;
    skips ||= skipped !== undefined;
  }
  const inTexts = skips ? detectInBoth(leaves, all, policy, detection) : detectIn(all, policy, detection);
  let detected = inTexts;
  if (slices) detected = overInTurns(inTexts, leaves, source, policy, detection, slices);
  else {
    const runs = finish(boundariesOf(leaves, source));
    if (runs.length > 0) detected = withOver(inTexts, runs, policy, detection);
  }
  if (!hasIds) return detected;
  const withIds = ({ matches, missed }: Detected): Detected => {
    return { matches: withNumbersInIds(leaves, matches, detection, lookedFor(policy, detection)), missed };
  };
  return detected instanceof Promise ? detected.then(withIds) : withIds(detected);
}

/** The matches of a large request in texts and over their boundaries, in slices of the event loop. */
async function overInTurns(
  inTexts: Detected | Promise<Detected>,
  leaves: readonly Leaf[],
  source: string,
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
  slices: Slices,
): Promise<Detected> {
  const found = await inTexts;
  const both = await withOver(found, await slices.run(boundariesOf(leaves, source)), policy, detection);
  await slices.next();
  return both;
}

/** The matches in texts with those over their boundaries. */
function withOver(
  inTexts: Detected | Promise<Detected>,
  runs: readonly TextRun[],
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
): Detected | Promise<Detected> {
  if (runs.length === 0) return inTexts;
  const entities = structuredOf(lookedFor(policy, detection) ?? detection.categories);
  const texts = runs.map(({ text }) => text);
  const over = detectIn(texts, { entities, mode: policy.mode }, detection);
  const both = ({ matches, missed }: Detected, { matches: more }: Detected): Detected => {
    return { matches: withBoundaryMatches(matches, runs, more), missed };
  };
  if (!(inTexts instanceof Promise) && !(over instanceof Promise)) return both(inTexts, over);
  return Promise.all([inTexts, over]).then(([found, more]) => both(found, more));
}

/** The kinds that detectors find without a model, by the set that they are taken from: few sets, one a policy. */
const structured = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();

function structuredOf(kinds: ReadonlySet<string>): ReadonlySet<string> {
  let known = structured.get(kinds);
  if (known === undefined) {
    known = new Set([...kinds].filter((category) => !NAME_CATEGORIES.has(category)));
    structured.set(kinds, known);
  }
  return known;
}

/** In texts as they are written, and without the characters that their reader ignores. */
async function detectInBoth(
  leaves: readonly Leaf[],
  all: readonly string[],
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
): Promise<Detected> {
  const views = leaves.map(({ text, skipped }) => skipped && viewSkipping(text, skipped));
  const more = views.filter((one) => one !== undefined);
  const { matches, missed } = await detectIn([...all, ...more.map(({ text }) => text)], policy, detection);
  const inViews = matches.slice(all.length).values();
  const both = views.map((view, at) =>
    view ? together(matches[at]!, matchesInSource(view, inViews.next().value!)) : matches[at]!,
  );
  return { matches: both, missed };
}

/** Returns a promise only where a thread or a model is asked. */
function detectIn(
  all: readonly string[],
  policy: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  detection: Detection,
): Detected | Promise<Detected> {
  let length = 0;
  for (const text of all) length += text.length;
  const kinds = lookedFor(policy, detection);
  if (detection.needsWorker(length, kinds)) return detectOrRefuse(all, policy, detection);
  const matches: (readonly Match[])[] = [];
  for (const text of all) matches.push(detection.findNow(text, kinds));
  return { matches, missed: leftOut(all, policy, kinds) };
}

/**
 * The kinds that policy wants looked for; undefined: all structured ones. Where it names none, names of people are among
 * them, unless the only result would be a number.
 */
export function lookedFor(
  { entities, mode }: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  { byDefault }: Pick<Detection, 'byDefault'>,
): ReadonlySet<string> | undefined {
  return entities ?? (mode === 'allow_log' ? undefined : byDefault);
}

/**
 * What a policy that names no kinds leaves out in these texts: names, where there is no model of them or nothing would come
 * of them but a number. A policy that names kinds has what it names looked for, or refuses. // spec 4.3.5
 */
export function leftOut(
  texts: readonly string[],
  { entities }: Pick<ResolvedPolicy['dlp'], 'entities'>,
  kinds: ReadonlySet<string> | undefined,
): readonly string[] {
  if (entities !== undefined || kinds?.has('PERSON_NAME') === true) return NOTHING;
  return texts.some(mayHoldName) ? LEFT_OUT : NOTHING;
}

const NOTHING: readonly string[] = [];
const LEFT_OUT: readonly string[] = [NAMES];

/**
 * Finds in texts what policy wants found. Where names cannot be looked for, mode `allow_log` goes on without them, and says
 * so; otherwise, and where nothing could be searched, it throws `inspection_unavailable`. `what`: whose texts they are.
 */
export async function detectOrRefuse(
  texts: readonly string[],
  policy: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  detection: Detection,
  what = 'The request',
): Promise<Detected> {
  const kinds = lookedFor(policy, detection);
  try {
    return { matches: await detection.find(texts, kinds), missed: leftOut(texts, policy, kinds) };
  } catch (cause) {
    const { entities, mode } = policy;
    if (cause instanceof NamesUnavailable && mode === 'allow_log') {
      const others = new Set([...(entities ?? [])].filter((category) => !NAME_CATEGORIES.has(category)));
      const { matches } = await detectOrRefuse(texts, { entities: others, mode }, detection, what);
      return { matches, missed: LEFT_OUT };
    }
    throw notSearched(cause, `${what} could not be inspected. Nothing was sent.`);
  }
}

/**
 * `inspection_unavailable` if a repeat may succeed, `request_too_large` if not; errors with
 * another cause, and cancellations, stay unchanged.
 */
export function notSearched(cause: unknown, message: string): unknown {
  if (cause instanceof SearchTooLarge) {
    const why = `${message} ${capitalized(cause.message)}: send less text in one request.`;
    return new GatewayError('request_too_large', why, {}, { cause });
  }
  if (!(cause instanceof NamesUnavailable || cause instanceof DetectionUnavailable)) return cause;
  if (!(cause instanceof NamesUnavailable) || !cause.isForGood) {
    return new GatewayError('inspection_unavailable', message, {}, { cause });
  }
  const why = `${message} ${capitalized(cause.message)}: remove the kinds of names from dlp.entities in the policy.`;
  return new GatewayError('inspection_unavailable', why, { shouldRetry: false }, { cause });
}

function capitalized(sentence: string): string {
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
}
