import type { ModelAnswer, Part } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import {
  callItem,
  contentOf,
  idOf,
  isToldReasoning,
  messageItem,
  NO_ARGUMENTS,
  reasoningItem,
  wholeItem,
} from './output-items.ts';
import { progressOf, responseObject } from './response-object.ts';

/** A whole answer as a response object. */
export function encodeAnswer(answer: ModelAnswer, context: AnswerContext): JsonObject {
  const output = encodeOutput(answer.parts, context);
  const hasRefused = answer.parts.some((part) => part.type === 'refusal' && part.text !== '');
  return responseObject(context, { ...progressOf(answer.finish, hasRefused), output, usage: answer.usage });
}

/** Neighbouring texts are one message; every other part is an item of its own. */
function encodeOutput(parts: readonly Part[], context: AnswerContext): JsonObject[] {
  const items: JsonObject[] = [];
  let content: JsonObject[] = [];
  const closeMessage = (): void => {
    if (content.length > 0) items.push(messageItem(idOf('msg', context, items.length), content, 'completed'));
    content = [];
  };
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'refusal') {
      if (part.text !== '') content.push(contentOf(part.type, part.text));
      continue;
    }
    if (part.type === 'reasoning' && !isToldReasoning(part)) continue;
    closeMessage();
    const item = encodeItem(part, context, items.length);
    if (item) items.push(item);
  }
  closeMessage();
  return items;
}

function encodeItem(part: Part, context: AnswerContext, outputIndex: number): JsonObject | undefined {
  if (part.type === 'tool-call') {
    const argumentsJson = part.argumentsJson === '' ? NO_ARGUMENTS : part.argumentsJson;
    return callItem(context, idOf('fc', context, outputIndex), { ...part, argumentsJson }, 'completed');
  }
  if (part.type === 'reasoning') return reasoningItem(idOf('rs', context, outputIndex), part);
  return wholeItem(part, idOf('ig', context, outputIndex));
}
