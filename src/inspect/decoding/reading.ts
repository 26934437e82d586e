import type { Span } from '../detectors/detector.ts';
import type { Disguise } from './disguises.ts';

/** A text as it reads where that is not how it is written. */
export interface Reading {
  readonly text: string;
  /** Where a stretch of it is written. */
  written(start: number, end: number): { readonly start: number; readonly end: number };
}

/** What was found in a reading, where it is written. */
export function writtenIn(reading: Reading, spans: readonly Span[]): readonly Span[] {
  return spans.map((span) => ({ ...span, ...reading.written(span.start, span.end) }));
}

/** A text without characters that its reader leaves out; undefined where it has none. */
export function readSkipping(text: string, skipped: RegExp): Reading | undefined {
  return without(undefined, text, (written) =>
    Array.from(written.matchAll(skipped), ({ 0: said, index }) => ({
      start: index,
      end: index + said.length,
      read: '',
    })),
  );
}

/** A reading without disguises that it has; of the text where there is none yet. Undefined where it has none. */
export function without(
  before: Reading | undefined,
  text: string,
  find: (text: string) => readonly Disguise[],
): Reading | undefined {
  const written = before?.text ?? text;
  const disguises = find(written);
  if (disguises.length === 0) return undefined;
  const places: Place[] = [];
  const parts: string[] = [];
  let at = 0;
  let length = 0;
  for (const { start, end, read } of disguises) {
    parts.push(written.slice(at, start), read);
    length += start - at;
    places.push({ start: length, end: length + read.length, from: start, to: end });
    length += read.length;
    at = end;
  }
  return {
    text: parts.join('') + written.slice(at),
    written: (start, end) => {
      const own = { start: startIn(places, start), end: endIn(places, end) };
      return before ? before.written(own.start, own.end) : own;
    },
  };
}

/** Where something that reads from `start` to `end` is written. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** A stretch begins behind marks that read as nothing. */
function startIn(places: readonly Place[], start: number): number {
  const last = lastWhere(places, (place) => place.start <= start);
  if (!last) return start;
  return start < last.end ? last.from : last.to + start - last.end;
}

/** It ends before them. */
function endIn(places: readonly Place[], end: number): number {
  const last = lastWhere(places, (place) => place.start < end);
  if (!last) return end;
  return end <= last.end ? last.to : last.to + end - last.end;
}

/** The last of which something is true that is true of all before it. */
function lastWhere(places: readonly Place[], holds: (place: Place) => boolean): Place | undefined {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const place = places[middle];
    if (place && holds(place)) low = middle + 1;
    else high = middle;
  }
  return places[low - 1];
}
