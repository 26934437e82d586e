import type { JsonObject } from '../document/json.ts';
import type { SseEvent } from './sse.ts';
import type { Usage } from './usage.ts';

/** What one frame of a provider's stream says: all that both modes know of it. */
export interface FrameFacts {
  readonly kind: 'content' | 'usage' | 'error' | 'done' | 'other';
  readonly id: string | undefined;
  readonly usage: Usage | undefined;
  /** UTF-8 bytes of output text in it: what a hung-up call is billed by when no usage frame came. */
  readonly outputBytes: number;
  /** Channels that end with this frame, by prefix (`0/` is choice 0). */
  readonly ends: readonly string[];
  /** The provider's message, for `error`, and its word for that kind of failure. */
  readonly error: string | undefined;
  readonly errorKind?: string;
  /** It is not in the form that the family's clients know: see `flatAnswer`. */
  readonly deviates?: true;
  /** The frame itself; absent where it has no data, or a bare mark. */
  readonly body?: JsonObject;
  /** Its data is JSON, but no object. */
  readonly malformed?: true;
}

/** Reads one provider's stream, the same in both modes; keeps the state of that stream. */
export interface StreamReader {
  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): FrameFacts;
  /** Whether the stream has said that it is over: an end without it is a broken stream. */
  readonly finished: boolean;
}

/** A frame that says nothing. */
export const NO_FACTS: FrameFacts = {
  kind: 'other',
  id: undefined,
  usage: undefined,
  outputBytes: 0,
  ends: [],
  error: undefined,
};

/** A frame that is JSON, but no object. */
export const MALFORMED: FrameFacts = { ...NO_FACTS, malformed: true };
