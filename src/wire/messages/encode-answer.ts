import type { ModelAnswer, Part } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { argumentsObject } from '../hub/tool-arguments.ts';
import { NO_USAGE } from '../answer/usage.ts';
import { writeFinish } from './finish.ts';
import { writeUsage } from './usage.ts';

/** An answer as a message. Input without a count is reported as estimated. */
export function encodeAnswer(answer: ModelAnswer, context: AnswerContext): JsonObject {
  const usage = answer.usage ?? { ...NO_USAGE, input: context.estimatedInput };
  const called = answer.parts.some(({ type }) => type === 'tool-call');
  return {
    ...envelope(context),
    content: answer.parts.flatMap(encodeBlock),
    ...writeFinish(answer.finish, called),
    usage: writeUsage(usage),
  };
}

/** What every message begins with. */
export function envelope({ callId, model }: Pick<AnswerContext, 'callId' | 'model'>): JsonObject {
  return { id: `msg_${callId.replaceAll('-', '')}`, type: 'message', role: 'assistant', model };
}

/** A block of an answer; nothing for parts that this family has no place for there. // wire-formats 2.2 */
function encodeBlock(part: Part): readonly JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning': {
      const signature = part.proof?.family === 'messages' ? part.proof.value : '';
      return part.text === '' && signature === '' ? [] : [{ type: 'thinking', thinking: part.text, signature }];
    }
    case 'tool-call':
      return [{ type: 'tool_use', id: part.id, name: part.name, input: argumentsObject(part.argumentsJson) }];
    case 'opaque':
      return part.family === 'messages' && isObject(part.value) ? [part.value] : [];
    case 'media':
    case 'tool-result':
      return [];
  }
}
