import type { FinishReason } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { inServiceTier, isTold, mediaBuckets, toldCount, tokenCount, type Usage } from '../answer/usage.ts';

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

/** How many queries the web was searched with for an answer. */
export function searchesIn(candidate: JsonObject | undefined): number {
  const grounding = candidate?.['groundingMetadata'];
  const queries = isObject(grounding) ? grounding['webSearchQueries'] : undefined;
  return Array.isArray(queries) ? queries.length : 0;
}

/** Content of an answer besides text, for details that its usage does not report. */
export type Shown = 'audio' | 'image' | undefined;

/**
 * `usageMetadata` in disjoint buckets: cached tokens are inside the prompt's count, thoughts not in the candidates',
 * and tool results not in the prompt's. Undefined while it only names the kind of traffic. // wire-formats 3.2
 * `shown`: media seen in the answer; all its tokens count as such if no modality is reported.
 */
export function readUsage(usage: Json | undefined, shown?: Shown): Usage | undefined {
  if (!isObject(usage) || !isTold(usage['promptTokenCount'])) return undefined;
  const prompt = toldCount(usage['promptTokenCount']);
  const cached = Math.min(tokenCount(usage['cachedContentTokenCount']), prompt);
  const fresh = prompt - cached + tokenCount(usage['toolUsePromptTokenCount']);
  const sent = usage['promptTokensDetails'];
  const kept = usage['cacheTokensDetails'];
  const brought = usage['toolUsePromptTokensDetails'];
  const cacheReadAudio = Math.min(modality(kept, AUDIO), cached);
  const inputAudio = Math.min(Math.max(0, modality(sent, AUDIO) - cacheReadAudio) + modality(brought, AUDIO), fresh);
  const seen = Math.max(0, modality(sent, IMAGE) - modality(kept, IMAGE)) + modality(brought, IMAGE);
  const inputImage = Math.min(seen, fresh - inputAudio);
  const output = toldCount(usage['candidatesTokenCount']);
  const shares = usage['candidatesTokensDetails'];
  const untold = Array.isArray(shares) && shares.length > 0 ? undefined : shown;
  const outputAudio = untold === 'audio' ? output : Math.min(modality(shares, AUDIO), output);
  const outputImage = untold === 'image' ? output : Math.min(modality(shares, IMAGE), output - outputAudio);
  const read: Usage = {
    input: fresh - inputAudio - inputImage,
    cacheRead: cached - cacheReadAudio,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    output: output - outputAudio - outputImage,
    reasoning: tokenCount(usage['thoughtsTokenCount']),
    ...mediaBuckets({ inputAudio, inputImage, cacheReadAudio, outputAudio, outputImage }),
  };
  return inServiceTier(read, usage['serviceTier'] ?? usage['trafficType']);
}

const AUDIO: ReadonlySet<unknown> = new Set(['AUDIO']);
const IMAGE: ReadonlySet<unknown> = new Set(['IMAGE', 'VIDEO']);

/** Tokens of these modalities in a list of `{modality, tokenCount}`. */
function modality(details: Json | undefined, modalities: ReadonlySet<unknown>): number {
  let tokens = 0;
  for (const detail of Array.isArray(details) ? (details as readonly Json[]) : []) {
    if (isObject(detail) && modalities.has(detail['modality'])) tokens += tokenCount(detail['tokenCount']);
  }
  return tokens;
}
