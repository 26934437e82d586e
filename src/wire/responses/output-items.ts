import type { Part, ReasoningPart, ToolCallPart } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { ownCall } from './own-tools.ts';
import { writeReasoning } from './reasoning.ts';

/** What stands for no arguments: the vendor's clients parse what they get. */
export const NO_ARGUMENTS = '{}';

/** How far an item of an answer is. */
type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** The id of the answer, or of one of its items: made from the call's, so that it is the same wherever it is told. */
export function idOf(
  prefix: 'resp' | 'msg' | 'fc' | 'rs' | 'ig',
  { callId }: AnswerContext,
  outputIndex?: number,
): string {
  const id = `${prefix}_${callId.replaceAll('-', '')}`;
  return outputIndex === undefined ? id : `${id}_${outputIndex}`;
}

/** One piece of a message's content. */
export function contentOf(type: 'text' | 'refusal', text: string): JsonObject {
  return type === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** What the model says. */
export function messageItem(id: string, content: readonly JsonObject[], status: ItemStatus): JsonObject {
  return { id, type: 'message', status, role: 'assistant', content };
}

/** A call as the client's own tools are called, a function's arguments as they were written. */
export function callItem(
  context: AnswerContext,
  id: string,
  call: Omit<ToolCallPart, 'type'>,
  status: ItemStatus,
): JsonObject {
  return { id, status, ...ownCall(context, call) };
}

/** What the model thought, as far as it is shown. */
export function reasoningItem(id: string, part: ReasoningPart): JsonObject {
  return { id, ...writeReasoning(part) };
}

/** A part that is told in one piece: what a tool of this family's own did, or an image. Undefined: it has no words here. */
export function wholeItem(part: Part, id: string): JsonObject | undefined {
  if (part.type === 'opaque') return part.family === 'responses' ? (part.value as JsonObject) : undefined;
  if (part.type !== 'media' || part.kind !== 'image' || !('data' in part.source)) return undefined;
  return { id, type: 'image_generation_call', status: 'completed', result: part.source.data };
}

/** Whether reasoning has anything to show or to send back. */
export function isToldReasoning({ text, proof }: ReasoningPart): boolean {
  return text !== '' || proof?.family === 'responses';
}
