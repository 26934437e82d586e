import type { ModelAnswer, ToolCallPart } from '../hub/canonical.ts';
import type { AnswerContext } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { customCall, customNames } from './custom-tools.ts';
import { encodeFinish } from './finish.ts';
import { writeUsage } from './usage.ts';

/** An answer's id in this family. */
export function answerId({ callId }: Pick<AnswerContext, 'callId'>): string {
  return `chatcmpl-${callId.replaceAll('-', '')}`;
}

/** Whether the client knows calls of the old kind only: those of `functions`. */
export function wantsFunctionCall({ request }: AnswerContext): boolean {
  return Array.isArray(request.body['functions']) && !Array.isArray(request.body['tools']);
}

/** A whole answer in this family's words. // wire-formats 3.1, 3.3 */
export function encodeAnswer(answer: ModelAnswer, context: AnswerContext): JsonObject {
  const text = textOf(answer, 'text');
  const refusal = textOf(answer, 'refusal');
  const reasoning = textOf(answer, 'reasoning');
  const calls = answer.parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  const called = encodeCalls(calls, context);
  const finish = encodeFinish(answer.finish.reason, { calls: calls.length > 0, refusal: refusal !== '' });
  return {
    id: answerId(context),
    object: 'chat.completion',
    created: context.createdAt,
    model: context.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
          refusal: refusal === '' ? null : refusal,
          ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
          ...called,
        },
        logprobs: null,
        finish_reason: 'function_call' in called && finish === 'tool_calls' ? 'function_call' : finish,
      },
    ],
    ...(answer.usage ? { usage: writeUsage(answer.usage) } : {}),
  };
}

function textOf({ parts }: ModelAnswer, type: 'text' | 'refusal' | 'reasoning'): string {
  return parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
}

function encodeCalls(calls: readonly ToolCallPart[], context: AnswerContext): JsonObject {
  const [first] = calls;
  if (!first) return {};
  if (wantsFunctionCall(context)) return { function_call: calledFunction(first) };
  const custom = customNames(context.request);
  return {
    tool_calls: calls.map((call) =>
      custom.has(call.name) ? customCall(call) : { id: call.id, type: 'function', function: calledFunction(call) },
    ),
  };
}

/** Clients parse the arguments: none are an empty object. */
function calledFunction({ name, argumentsJson }: ToolCallPart): JsonObject {
  return { name, arguments: argumentsJson === '' ? '{}' : argumentsJson };
}
