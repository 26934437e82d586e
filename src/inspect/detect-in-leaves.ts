import type { ResolvedPolicy } from '#/config/snapshot.ts';
import type { Slices } from '#/runtime/loop-slices.ts';
import type { Leaf } from '#/wire/hub/codec.ts';
import { finish } from '#/wire/document/steps.ts';
import { NAME_CATEGORIES } from './names/detect-names.ts';
import { detectOrRefuse, leftOut, lookedFor, type Detected } from './detect-or-refuse.ts';
import type { Detection } from './detectors/detector.ts';
import type { Joint } from './decoding/joint-texts.ts';
import { jointsOf, withJoints } from './decoding/joints.ts';
import { readSkipping, writtenIn, type Reading } from './decoding/reading.ts';
import { together } from './decoding/readings.ts';

/**
 * Spans of every leaf, in order, and what nobody looked for: in each text, and over the joints of texts that a model reads
 * one after the other. `isOfSource`: whether a leaf stands in the source itself, and not in JSON within one of its texts.
 */
export function detectInLeaves(
  leaves: readonly Leaf[],
  isOfSource: (leaf: Leaf) => boolean,
  source: string,
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
  slices?: Slices,
): Detected | Promise<Detected> {
  if (slices) return detectInTurns(leaves, isOfSource, source, policy, detection, slices);
  const inTexts = detectInTexts(leaves, policy, detection);
  const joints = finish(jointsOf(leaves, isOfSource, source));
  if (joints.length === 0) return inTexts;
  const over = detectOver(joints, policy, detection);
  if (inTexts instanceof Promise || over instanceof Promise)
    return Promise.all([inTexts, over]).then(([found, more]) => withOver(found, joints, more));
  return withOver(inTexts, joints, over);
}

/** The same of a large request, in slices of the event loop. */
async function detectInTurns(
  leaves: readonly Leaf[],
  isOfSource: (leaf: Leaf) => boolean,
  source: string,
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
  slices: Slices,
): Promise<Detected> {
  const found = await detectInTexts(leaves, policy, detection);
  const joints = await slices.run(jointsOf(leaves, isOfSource, source));
  if (joints.length === 0) return found;
  const over = await detectOver(joints, policy, detection);
  await slices.next();
  return withOver(found, joints, over);
}

function withOver({ spans, missed }: Detected, joints: readonly Joint[], over: Detected): Detected {
  return { spans: withJoints(spans, joints, over.spans), missed };
}

function detectOver(
  joints: readonly Joint[],
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
): Detected | Promise<Detected> {
  const entities = structuredOf(lookedFor(policy, detection) ?? detection.categories);
  const texts = joints.map(({ text }) => text);
  return detectIn(texts, { entities, mode: policy.mode }, detection);
}

/** Of kinds those that detectors find without a model, by the set that names them: few sets, one a policy. */
const structured = new WeakMap<ReadonlySet<string>, ReadonlySet<string>>();

function structuredOf(kinds: ReadonlySet<string>): ReadonlySet<string> {
  let known = structured.get(kinds);
  if (known === undefined) {
    known = new Set([...kinds].filter((category) => !NAME_CATEGORIES.has(category)));
    structured.set(kinds, known);
  }
  return known;
}

function detectInTexts(
  leaves: readonly Leaf[],
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
): Detected | Promise<Detected> {
  const all = leaves.map(({ text }) => text);
  if (!leaves.some(({ skipped }) => skipped)) return detectIn(all, policy, detection);
  const readings = leaves.map(({ text, skipped }) => skipped && readSkipping(text, skipped));
  return detectInBoth(all, readings, policy, detection);
}

/** As they are written, and without what their reader leaves out. */
async function detectInBoth(
  all: readonly string[],
  readings: readonly (Reading | undefined)[],
  policy: ResolvedPolicy['dlp'],
  detection: Detection,
): Promise<Detected> {
  const more = readings.filter((one) => one !== undefined);
  const { spans, missed } = await detectIn([...all, ...more.map(({ text }) => text)], policy, detection);
  const inReadings = spans.slice(all.length).values();
  const both = readings.map((reading, at) =>
    reading ? together(spans[at]!, writtenIn(reading, inReadings.next().value!)) : spans[at]!,
  );
  return { spans: both, missed };
}

/** A promise only where it is needed. */
function detectIn(
  all: readonly string[],
  policy: Pick<ResolvedPolicy['dlp'], 'entities' | 'mode'>,
  detection: Detection,
): Detected | Promise<Detected> {
  const length = all.reduce((sum, text) => sum + text.length, 0);
  const kinds = lookedFor(policy, detection);
  if (!detection.needsWorker(length, kinds)) {
    const spans = all.map((text) => detection.findNow(text, kinds));
    return { spans, missed: leftOut(all, policy, kinds) };
  }
  return detectOrRefuse(all, policy, detection);
}
