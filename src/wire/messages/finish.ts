import type { Finish, FinishReason } from '../hub/canonical.ts';
import type { Json, JsonObject } from '../document/json.ts';

const READ: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  tool_use: 'tool-calls',
  refusal: 'refusal',
  pause_turn: 'pause',
  // The conversation was made shorter, and the model waits to be asked again.
  compaction: 'pause',
  model_context_window_exceeded: 'context',
};

const WRITTEN: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  context: 'model_context_window_exceeded',
  'tool-calls': 'tool_use',
  refusal: 'refusal',
  filter: 'refusal',
  pause: 'pause_turn',
  malformed: 'end_turn',
};

/** Why an answer ended, of the object that has its `stop_reason`; undefined while it has not. // wire-formats 3.1 */
export function readFinish(object: JsonObject): Finish | undefined {
  const { stop_reason: word, stop_sequence: stopSequence } = object;
  if (typeof word !== 'string') return undefined;
  const reason = isKnownStopReason(word) ? (READ[word] as FinishReason) : 'stop';
  return typeof stopSequence === 'string' ? { reason, stopSequence } : { reason };
}

/** Whether a word is one that this family is known to end an answer with. */
export function isKnownStopReason(word: Json | undefined): boolean {
  return typeof word === 'string' && Object.hasOwn(READ, word);
}

/** `stop_reason` and `stop_sequence` of an answer; `called`: it has tool calls. // spec 4.5.4 */
export function writeFinish({ reason, stopSequence }: Finish, called: boolean): JsonObject {
  const word = called && reason === 'stop' ? WRITTEN['tool-calls'] : WRITTEN[reason];
  return { stop_reason: word, stop_sequence: stopSequence ?? null };
}
