import type { ModelAnswer } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { readBlock, readFinish, readUsage } from './response.ts';

/** Reads a buffered answer. Undefined when there is no message in it, which also comes with a status of 200. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  const { output, stopReason, additionalModelResponseFields, usage: told, serviceTier } = body;
  const message = isObject(output) ? output['message'] : undefined;
  if (!isObject(message) || !Array.isArray(message['content'])) return undefined;
  const parts = (message['content'] as readonly Json[]).filter((block) => isObject(block)).map(readBlock);
  const hasCalled = parts.some(({ type }) => type === 'tool-call');
  const fallback = { reason: hasCalled ? 'tool-calls' : 'stop' } as const;
  const usage = readUsage(told, serviceTier);
  return {
    parts,
    finish: readFinish(stopReason, additionalModelResponseFields, hasCalled) ?? fallback,
    ...(usage === undefined ? {} : { usage }),
  };
}
