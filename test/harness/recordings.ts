import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StreamEvent } from '#/wire/hub/canonical.ts';
import type { StreamDecoder } from '#/wire/hub/codec.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { SseDecoder } from '#/wire/answer/sse.ts';

const ROOT = join(import.meta.dirname, '../../../shared/recordings');

/** Why tests of recordings do not run here. */
export const NO_RECORDINGS = 'no recorded provider answers beside the repository';

/** Every recording, by its path below the folder; empty where there are none. */
export function allRecordings(): readonly string[] {
  if (!existsSync(ROOT)) return [];
  return readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(json|chunks\.txt|sse)$/.test(name),
  );
}

/** A recording as it was kept. */
export function recordedText(name: string): string {
  return readFileSync(join(ROOT, name), 'utf8');
}

/** The recordings of one provider whose name ends so; empty where there are none. */
export function recordingsOf(provider: string, ending: string): readonly string[] {
  const folder = join(ROOT, provider);
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(ending)) : [];
}

/** A buffered answer. */
export function recordedBody(provider: string, name: string): JsonObject {
  return JSON.parse(readFileSync(join(ROOT, provider, name), 'utf8')) as JsonObject;
}

/** A stream as server-sent events without names. */
export function recordedStream(provider: string, name: string): string {
  const lines = readFileSync(join(ROOT, provider, name), 'utf8').split('\n');
  return lines.flatMap((line) => (line.trim() === '' ? [] : [`data: ${line}\n\n`])).join('');
}

/** The result of a stream that arrives in these pieces, its end included. */
export function decodeAll(streamDecoder: StreamDecoder, pieces: readonly Uint8Array[]): readonly StreamEvent[] {
  const decoder = new SseDecoder(2 ** 24);
  const events = [...pieces.flatMap((piece) => decoder.push(piece)), ...decoder.end()];
  return [...events.flatMap((event) => streamDecoder.decode(event)), ...streamDecoder.end()];
}
