import type { Finish, FinishReason, ModelAnswer, Part } from '../hub/canonical.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { inServiceTier, isTold, toldCount, tokenCount, type Usage } from '../answer/usage.ts';

const FINISHES: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop-sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'context',
  tool_use: 'tool-calls',
  guardrail_intervened: 'filter',
  content_filtered: 'filter',
  refusal: 'refusal',
  pause_turn: 'pause',
  malformed_model_output: 'malformed',
  malformed_tool_use: 'malformed',
};

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

/**
 * Why an answer ended, and at which stop string, if that was requested and reported. Undefined: unknown. //
 * wire-formats 3.1
 */
export function readFinish(word: Json | undefined, fields: Json | undefined, hasCalled: boolean): Finish | undefined {
  const known = typeof word === 'string' && Object.hasOwn(FINISHES, word) ? FINISHES[word] : undefined;
  if (known === undefined) return undefined;
  const reason = hasCalled && (known === 'stop' || known === 'stop-sequence') ? 'tool-calls' : known;
  const stopSequence = reason === 'stop-sequence' ? stopString(fields) : undefined;
  return { reason, ...(stopSequence === undefined ? {} : { stopSequence }) };
}

/** In a stream it is a member of `delta`. */
function stopString(fields: Json | undefined): string | undefined {
  if (!isObject(fields)) return undefined;
  const inner = isObject(fields['delta']) ? fields['delta'] : fields;
  return typeof inner['stop_sequence'] === 'string' ? inner['stop_sequence'] : undefined;
}

/**
 * A usage in disjoint buckets: cache reads and writes are not in the input's count, and reasoning
 * is not reported separately. `tier`: `serviceTier` of the answer. // wire-formats 3.2
 */
export function readUsage(usage: Json | undefined, tier: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  if (!isTold(usage['inputTokens']) || !isTold(usage['outputTokens'])) return undefined;
  const details = Array.isArray(usage['cacheDetails']) ? (usage['cacheDetails'] as readonly Json[]) : [];
  let hour = 0;
  let others = 0;
  for (const detail of details) {
    if (!isObject(detail)) continue;
    if (detail['ttl'] === '1h') hour += tokenCount(detail['inputTokens']);
    else others += tokenCount(detail['inputTokens']);
  }
  const read: Usage = {
    input: toldCount(usage['inputTokens']),
    cacheRead: tokenCount(usage['cacheReadInputTokens']),
    cacheWrite5m: Math.max(others, tokenCount(usage['cacheWriteInputTokens']) - hour),
    cacheWrite1h: hour,
    output: toldCount(usage['outputTokens']),
    reasoning: 0,
  };
  return inServiceTier(read, isObject(tier) ? tier['type'] : tier);
}

/** A block of a whole answer. */
function readBlock(block: JsonObject): Part {
  const { text, toolUse, reasoningContent, citationsContent, image } = block;
  if (typeof text === 'string') return { type: 'text', text };
  if (isObject(toolUse) && toolUse['type'] === undefined && typeof toolUse['toolUseId'] === 'string') {
    const name = typeof toolUse['name'] === 'string' ? toolUse['name'] : '';
    return { type: 'tool-call', id: toolUse['toolUseId'], name, argumentsJson: JSON.stringify(toolUse['input'] ?? {}) };
  }
  if (isObject(reasoningContent)) return readReasoning(reasoningContent) ?? opaque(block);
  if (isObject(citationsContent)) return { type: 'text', text: citedText(citationsContent['content']) };
  if (isObject(image)) return readImage(image) ?? opaque(block);
  return opaque(block);
}

/** Claude's signatures and sealed thinking are of the messages family, wherever it is hosted. */
function readReasoning({ reasoningText, redactedContent }: JsonObject): Part | undefined {
  if (typeof redactedContent === 'string') return redacted(redactedContent);
  if (!isObject(reasoningText)) return undefined;
  const { text, signature } = reasoningText;
  const proof = typeof signature === 'string' && signature !== '' ? signature : undefined;
  return {
    type: 'reasoning',
    text: typeof text === 'string' ? text : '',
    ...(proof === undefined ? {} : { proof: { family: 'messages', value: proof } }),
  };
}

/** Thinking that only Claude can read, in the form its own family has for it. */
export function redacted(data: string): Part {
  const value = { type: 'redacted_thinking', data };
  return { type: 'opaque', family: 'messages', name: 'redacted_thinking', value };
}

function citedText(content: Json | undefined): string {
  const items = Array.isArray(content) ? (content as readonly Json[]) : [];
  return items.map((item) => (isObject(item) && typeof item['text'] === 'string' ? item['text'] : '')).join('');
}

/** A picture of the model's own making. */
export function readImage({ format, source }: JsonObject): Part | undefined {
  const bytes = isObject(source) ? source['bytes'] : undefined;
  if (typeof format !== 'string' || typeof bytes !== 'string') return undefined;
  return { type: 'media', kind: 'image', mediaType: `image/${format}`, source: { data: bytes } };
}

/** A block that no other family has an equal of, named by its only member. */
export function opaque(value: JsonObject): Part {
  return { type: 'opaque', family: 'converse', name: Object.keys(value)[0] ?? 'unknown', value };
}
