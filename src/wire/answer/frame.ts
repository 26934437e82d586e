import type { JsonObject } from '../document/json.ts';
import type { SseEvent } from './sse.ts';
import type { Usage } from './usage.ts';

/** What one frame of a provider's stream says: all that both modes know of it. */
export interface FrameFacts {
  readonly kind: 'content' | 'usage' | 'error' | 'done' | 'other';
  readonly id: string | undefined;
  readonly usage: Usage | undefined;
  /** The provider's message, for `error`, and its word for that kind of failure. */
  readonly error?: string;
  readonly errorKind?: string;
  /** It is not in the form that the family's clients know: see `flatAnswer`. */
  readonly deviates?: boolean;
  /** The frame itself; undefined where it has no data, a bare mark, or JSON that is no object. */
  readonly body: JsonObject | undefined;
}

/** Reads one provider's stream, the same in both modes; keeps the state of that stream. */
export interface StreamReader {
  /** Throws `SyntaxError` when the data is not JSON. */
  read(event: SseEvent): FrameFacts;
  /** Whether the stream has said that it is over: an end without it is a broken stream. */
  readonly finished: boolean;
}

/** A frame that says nothing. */
export const NO_FACTS: FrameFacts = { kind: 'other', id: undefined, usage: undefined, body: undefined };

/** A frame that is JSON, but no object: it says nothing either. */
export const NO_OBJECT: FrameFacts = { ...NO_FACTS };
