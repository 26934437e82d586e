import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** A stretch that people labelled, in UTF-16 code units. */
export interface Label {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

/** A text with what is in it. */
export interface Sample {
  readonly language: string;
  readonly text: string;
  readonly labels: readonly Label[];
}

interface Row {
  readonly lang?: string;
  readonly text: string;
  readonly spans?: readonly (readonly [number, number, string, string?])[];
  readonly span?: readonly [number, number];
  readonly kind?: string;
}

/** Reads lines of JSON, gzipped: `spans` of `[start, end, label]` in code points, or one `span` of a `kind`. */
export function readCorpus(path: string): readonly Sample[] {
  const lines = gunzipSync(readFileSync(path)).toString().split('\n').filter(Boolean);
  return lines.map((line) => {
    const row = JSON.parse(line) as Row;
    const spans = row.spans ?? (row.span ? [[...row.span, row.kind ?? 'SECRET'] as const] : []);
    const labels = spans.map(([start, end, label]) => ({
      start: unitsBefore(row.text, start),
      end: unitsBefore(row.text, end),
      label,
    }));
    return { language: row.lang ?? '', text: row.text, labels };
  });
}

/** How many UTF-16 code units the first code points of a text take. */
function unitsBefore(text: string, points: number): number {
  let at = 0;
  for (let point = 0; point < points; point += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
