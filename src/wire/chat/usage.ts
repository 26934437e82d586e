import type { Edit, WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode, type ObjectNode } from '../document/scan.ts';
import {
  inputTokens,
  inServiceTier,
  isTold,
  mediaBuckets,
  outputTokens,
  toldCount,
  tokenCount,
  type Usage,
} from '../answer/usage.ts';

/** More than any prompt has: cached tokens beyond the prompt and beyond this are nonsense, not another way of counting. */
const MAX_PROMPT = 10_000_000;

/**
 * A chat usage object in disjoint buckets. This family counts cached tokens inside the prompt and reasoning tokens
 * inside the completion; vendors who count them separately are detected by their own totals. Details that are missing
 * or nonsensical count as zero. // wire-formats 3.2
 */
export function readUsage(usage: Json | undefined): Usage | undefined {
  // Without both figures it is no account of anything: our own count is billed instead.
  if (!isObject(usage) || !isTold(usage['prompt_tokens']) || !isTold(usage['completion_tokens'])) return undefined;
  const reported = toldCount(usage['prompt_tokens']);
  const details = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const cached = cachedTokens(usage, details);
  const beside = cached > reported && cached <= MAX_PROMPT;
  const prompt = beside ? reported + cached : reported;
  const cacheRead = Math.min(cached, prompt);
  const cacheWrite = Math.min(tokenCount(details['cache_write_tokens']), prompt - cacheRead);
  const fresh = prompt - cacheRead - cacheWrite;
  // Cached tokens count as text as long as there is text: cached audio is not cheaper.
  const inputAudio = Math.min(tokenCount(details['audio_tokens']), fresh);
  const { output, reasoning } = outputOf(usage, reported, prompt);
  const said = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
  const outputAudio = Math.min(tokenCount(said['audio_tokens']), output);
  const read = {
    input: fresh - inputAudio,
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output: output - outputAudio,
    reasoning,
  };
  return inputAudio === 0 && outputAudio === 0 ? read : { ...read, ...mediaBuckets({ inputAudio, outputAudio }) };
}

/** The usage of an answer or a chunk, in each of the places where vendors put it. */
export function usageOf(body: JsonObject): Usage | undefined {
  const choice: Json | undefined = Array.isArray(body['choices']) ? (body['choices'] as readonly Json[])[0] : undefined;
  const usage =
    readUsage(body['usage']) ??
    (isObject(body['x_groq']) ? readUsage(body['x_groq']['usage']) : undefined) ??
    (isObject(choice) ? readUsage(choice['usage']) : undefined);
  return usage && body['service_tier'] !== undefined ? inServiceTier(usage, body['service_tier']) : usage;
}

/** The same count under the names that vendors give it. */
function cachedTokens(usage: JsonObject, details: JsonObject): number {
  return Math.max(
    tokenCount(details['cached_tokens']),
    tokenCount(usage['prompt_cache_hit_tokens']),
    tokenCount(usage['num_cached_tokens']),
    tokenCount(usage['cached_tokens']),
  );
}

/**
 * Output and reasoning. If the total is more than prompt and completion, reasoning is counted in addition to the
 * completion: by its own number if that fills the gap, or else by the gap, if no number is reported.
 */
function outputOf(usage: JsonObject, reported: number, prompt: number): Pick<Usage, 'output' | 'reasoning'> {
  const completion = toldCount(usage['completion_tokens']);
  const details = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
  const told = tokenCount(details['reasoning_tokens']);
  const total = tokenCount(usage['total_tokens']);
  const gap = total - prompt - completion;
  if (told > 0 && (gap === told || total === reported + completion + told))
    return { output: completion, reasoning: told };
  if (told === 0 && gap > 0) return { output: completion, reasoning: gap };
  const reasoning = Math.min(told, completion);
  return { output: completion - reasoning, reasoning };
}

/** A usage in this family's words. */
export function writeUsage(usage: Usage): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const { inputAudio, outputAudio } = usage;
  const prompt = inputTokens(usage);
  const completion = outputTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead + (usage.cacheReadAudio ?? 0),
      ...(inputAudio ? { audio_tokens: inputAudio } : {}),
      ...(written > 0 ? { cache_write_tokens: written } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      ...(outputAudio ? { audio_tokens: outputAudio } : {}),
    },
  };
}

/** Edits that count every prompt token as a fresh one, in the usage objects of an answer or a chunk. */
export function hideCacheCounts(document: WireDocument): readonly Edit[] {
  const edits: Edit[] = [];
  for (const { key, value } of document.root.members) {
    if (value.kind === 'object' && (key.value.startsWith('usage') || key.value === 'x_groq')) hide(value, edits);
    else if (key.value === 'choices' && value.kind === 'array') {
      for (const choice of value.items) hideIn(member(choice, 'usage'), edits);
    }
  }
  return edits;
}

/** By the word in their names: the details that vendors tell differ, and a new one must not slip through. */
function hide(object: ObjectNode, edits: Edit[]): void {
  const prompt = member(object, 'prompt_tokens');
  for (const { key, value } of object.members) {
    if (value.kind === 'number' && key.value.includes('cache')) {
      const isMiss = key.value === 'prompt_cache_miss_tokens' && prompt?.kind === 'number';
      const shown = isMiss ? prompt.source : '0';
      if (value.source !== shown) edits.push({ start: value.start, end: value.end, text: shown });
    } else hideIn(value, edits);
  }
}

function hideIn(node: JsonNode | undefined, edits: Edit[]): void {
  if (node?.kind === 'object') hide(node, edits);
  else if (node?.kind === 'array') for (const item of node.items) hideIn(item, edits);
}
