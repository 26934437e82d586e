import type { FinishReason } from '../canonical.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import { tokenCount, type Usage } from '../usage.ts';

/** The answer that counts: the first, if it says anything. */
export function firstCandidate(body: JsonObject): JsonObject | undefined {
  const { candidates } = body;
  if (!Array.isArray(candidates)) return undefined;
  const list = candidates as readonly Json[];
  const first = list.find((candidate) => isObject(candidate) && (candidate['index'] ?? 0) === 0);
  return isObject(first) && (isObject(first['content']) || first['finishReason'] !== undefined) ? first : undefined;
}

/** Why the prompt was refused before anything was said, in this family's word. */
export function blockReason(body: JsonObject): string | undefined {
  const feedback = body['promptFeedback'];
  const reason = isObject(feedback) ? feedback['blockReason'] : undefined;
  return typeof reason === 'string' ? reason : undefined;
}

const FINISHES: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  FINISH_REASON_UNSPECIFIED: 'stop',
  LANGUAGE: 'stop',
  OTHER: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'pause',
  SAFETY: 'filter',
  RECITATION: 'filter',
  BLOCKLIST: 'filter',
  PROHIBITED_CONTENT: 'filter',
  SPII: 'filter',
  MODEL_ARMOR: 'filter',
  IMAGE_SAFETY: 'filter',
  IMAGE_PROHIBITED_CONTENT: 'filter',
  IMAGE_RECITATION: 'filter',
  IMAGE_OTHER: 'filter',
  NO_IMAGE: 'filter',
  MALFORMED_FUNCTION_CALL: 'malformed',
  UNEXPECTED_TOOL_CALL: 'malformed',
  TOO_MANY_TOOL_CALLS: 'malformed',
  MALFORMED_RESPONSE: 'malformed',
};

/** Why an answer ended; this family has no word of its own for a call of tools. Undefined: unknown. // wire-formats 3.1 */
export function finishReason(word: string, hasCalled: boolean): FinishReason | undefined {
  const reason = Object.hasOwn(FINISHES, word) ? FINISHES[word] : undefined;
  return reason === 'stop' && hasCalled ? 'tool-calls' : reason;
}

/**
 * `usageMetadata` in disjoint buckets: cached tokens are inside the prompt's count, thoughts beside the candidates', and
 * what tools brought in is beside the prompt. Undefined while it only names the kind of traffic. // wire-formats 3.2
 */
export function readUsage(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage) || typeof usage['promptTokenCount'] !== 'number') return undefined;
  const prompt = tokenCount(usage['promptTokenCount']);
  const cacheRead = Math.min(tokenCount(usage['cachedContentTokenCount']), prompt);
  return {
    input: prompt - cacheRead + tokenCount(usage['toolUsePromptTokenCount']),
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: tokenCount(usage['candidatesTokenCount']),
    reasoning: tokenCount(usage['thoughtsTokenCount']),
  };
}
