/**
 * Texts that a stream tells in pieces, by the type of their deltas. Both modes read a stream by this table: a new text is
 * one row here. Any other delta says something whole.
 */
export const STREAM_TEXTS: Readonly<Record<string, StreamText>> = {
  text_delta: { member: 'text', part: 'text', isOutput: true, isAnswer: true },
  input_json_delta: { member: 'partial_json', part: 'tool-call', isOutput: true },
  thinking_delta: { member: 'thinking', part: 'reasoning', isOutput: true, isSigned: true },
  signature_delta: { member: 'signature', part: 'reasoning', isProof: true, isSigned: true },
  compaction_delta: { member: 'content', part: 'opaque' },
};

/** A text that goes on from frame to frame. */
interface StreamText {
  /** Member of the delta that holds the next piece. */
  readonly member: string;
  /** What it continues in the hub; `opaque`: a block that only this family knows, and that is passed on whole. */
  readonly part: 'text' | 'reasoning' | 'tool-call' | 'opaque';
  /** The model wrote it: it counts where no usage is reported. */
  readonly isOutput?: true;
  /** The answer itself: JSON where JSON was asked for. */
  readonly isAnswer?: true;
  /** It proves the part instead of adding to its text. */
  readonly isProof?: true;
  /** The client must send it back as it came: it is never rewritten. // spec 4.5.4 */
  readonly isSigned?: true;
}

/** Deltas that add nothing to what the hub has words for. */
export const UNTOLD_DELTAS = new Set(['citations_delta']);

/** The row of a delta's type; undefined for one that says something whole. */
export function streamText(type: unknown): StreamText | undefined {
  return ROWS.get(type);
}

const ROWS: ReadonlyMap<unknown, StreamText> = new Map(Object.entries(STREAM_TEXTS));

/** Members of deltas and blocks whose text the model wrote. */
export const OUTPUT_MEMBERS = Object.values(STREAM_TEXTS).flatMap(({ member, isOutput }) => (isOutput ? [member] : []));
