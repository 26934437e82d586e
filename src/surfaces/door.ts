import type { Ingress, Surface } from '#/call/call.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import type { Arrival } from './authenticated-request.ts';
import type { Voice } from './voice.ts';

/** A way into the corridor: `POST` to one of its paths is a model call in one wire family. */
export interface Door {
  readonly surface: Surface;
  readonly paths: readonly string[];
  readonly codec: Codec;
  readonly voice: Voice;
  /** A request in the family's words, where part of it stands in the path. Absent: its body is all of it. */
  receive?(
    text: string,
    params: Readonly<Record<string, string | undefined>>,
    arrival: Arrival,
    signal: AbortSignal,
  ): Promise<{ readonly text: string; readonly arrival: Arrival }>;
}

/** A request at this door as the corridor takes it; `text`: its body. */
export function ingressAt(
  { surface, codec }: Door,
  { id, startedAt, key, snapshot, headers }: Arrival,
  text: string,
  signal: AbortSignal,
): Ingress {
  return { id, startedAt, key, snapshot, surface, codec, text, headers, signal };
}
