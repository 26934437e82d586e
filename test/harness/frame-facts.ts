import type { FrameFacts, StreamReader } from '#/wire/answer/frame.ts';
import type { SseEvent } from '#/wire/answer/sse.ts';
import type { Codec } from '#/wire/hub/codec.ts';

/** What a codec knows of a frame in verbatim mode: the reader's facts, its output and which texts end with it. */
export function frameFacts(
  codec: Pick<Codec, 'outputBytes' | 'ends'>,
  reader: StreamReader,
  event: SseEvent,
): FrameFacts & { readonly outputBytes: number; readonly ends: readonly string[] } {
  const facts = reader.read(event);
  const { body } = facts;
  return { ...facts, outputBytes: body ? codec.outputBytes(body) : 0, ends: body ? codec.ends(body) : [] };
}
