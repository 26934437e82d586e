import type { ModelAnswer } from '../hub/canonical.ts';
import { collectAnswer } from '../answer/collect-answer.ts';
import type { JsonObject } from '../document/json.ts';
import { GeminiStreamDecoder } from './decode-stream.ts';
import { blockReason, finishReason, firstCandidate } from './response.ts';

/** Reads a buffered answer: a stream of one chunk. Undefined for an error, or when there is nothing of an answer in it. */
export function decodeAnswer(body: JsonObject): ModelAnswer | undefined {
  if (body['error'] !== undefined || !(firstCandidate(body) || blockReason(body))) return undefined;
  const reader = new GeminiStreamDecoder();
  const { finish, ...answer } = collectAnswer([...reader.chunk(body), ...reader.end()]);
  return { ...answer, finish: finish ?? { reason: finishReason('STOP', reader.hasCalled) ?? 'stop' } };
}
