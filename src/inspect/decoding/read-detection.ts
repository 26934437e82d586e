import { createDetection, type Detection as Search } from '../detectors/detect.ts';
import type { Span } from '../detectors/detector.ts';
import type { DetectionOptions } from '../detectors/list.ts';
import { united } from '../merge.ts';
import { readingsOf } from './readings.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';
import { suspectsIn, type Stretch } from './suspects.ts';

/** What begins or ends this close to where a stretch was cut out may be a part of something longer. */
const MARGIN = 40;
/** An address, digits enough for a number, or a word that tells a secret: else nothing is looked for in a reading. */
const TELLING = /@|(?:\d[^\d\n]{0,8}){6}|pass|pwd|secret|token|key|sk[-_]/i;

/**
 * The search for every structured kind in texts as they are written and as they read. A pure function of text and kinds:
 * threads run it as the event loop does.
 */
export function createReadDetection(options?: DetectionOptions): Search {
  const detection = createDetection(options);
  const hiddenFinds = function* (
    text: string,
    stretches: readonly Stretch[],
    kinds?: ReadonlySet<string>,
  ): Steps<Span[]> {
    const more: Span[] = [];
    for (const stretch of stretches)
      for (const span of yield* hiddenIn(text, stretch, (read) => detection.steps(read, kinds))) more.push(span);
    return more;
  };
  return {
    categories: detection.categories,
    find: (text, kinds) => {
      const found = detection.find(text, kinds);
      const suspects = suspectsIn(text);
      if (suspects.length === 0) return found;
      const more = finish(hiddenFinds(text, suspects, kinds));
      return more.length === 0 ? found : united(found, more);
    },
    *steps(text, kinds) {
      const found = yield* detection.steps(text, kinds);
      yield;
      const more = yield* hiddenFinds(text, suspectsIn(text), kinds);
      return more.length === 0 ? found : united(found, more);
    },
  };
}

/** What is found in a stretch of a text as it reads, where it is written. */
function* hiddenIn(
  text: string,
  { start, end }: Stretch,
  find: (text: string) => Steps<readonly Span[]>,
): Steps<readonly Span[]> {
  yield;
  const own = text.slice(start, end);
  const from = start === 0 ? 0 : MARGIN;
  const to = end === text.length ? own.length : own.length - MARGIN;
  const found: Span[] = [];
  for (const { reading, spansOf } of readingsOf(own)) {
    if (!TELLING.test(reading.text)) continue;
    for (const span of spansOf(yield* find(reading.text)))
      if (span.start >= from && span.end <= to)
        found.push({ ...span, start: span.start + start, end: span.end + start });
  }
  return found;
}
