import type { Usage } from '#wire/usage.ts';
import type { AnswerFacts, Leaf } from '../codec.ts';
import type { WireDocument } from '../document.ts';
import { isObject, type Json, type JsonObject } from '../json.ts';
import type { JsonNode } from '../scan.ts';

/** Reads what a buffered chat answer says about itself. */
export function readAnswer(body: JsonObject): AnswerFacts {
  return {
    id: readId(body['id']),
    usage: readUsage(body['usage']),
    complete: Array.isArray(body['choices']) && body['choices'].length > 0,
  };
}

/** Whether the text of a member is JSON of its own: tool-call arguments, and content where JSON was asked for. */
export function textKind(name: string, jsonAnswer: boolean): 'text' | 'json' {
  return name === 'arguments' || (jsonAnswer && name === 'content') ? 'json' : 'text';
}

/** Every string value of a chat answer. */
export function answerLeaves(answer: WireDocument, jsonAnswer: boolean): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode, name: string): void => {
    if (node.kind === 'string') found.push({ node, text: node.value, kind: textKind(name, jsonAnswer) });
    else if (node.kind === 'array') for (const item of node.items) visit(item, name);
    else if (node.kind === 'object') for (const { key, value } of node.members) visit(value, key.value);
  };
  visit(answer.root, '');
  return found;
}

/**
 * A chat usage object in disjoint buckets. This family counts cached tokens inside the prompt and reasoning tokens
 * inside the completion; details that are missing or nonsensical count as zero.
 */
export function readUsage(usage: Json | undefined): Usage | undefined {
  // Without both figures it is no account of anything: our own count is billed instead.
  if (!isObject(usage) || !isCount(usage['prompt_tokens']) || !isCount(usage['completion_tokens'])) return undefined;
  const prompt = count(usage['prompt_tokens']);
  const completion = count(usage['completion_tokens']);
  const promptDetails = isObject(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const completionDetails = isObject(usage['completion_tokens_details']) ? usage['completion_tokens_details'] : {};
  const cacheRead = Math.min(count(promptDetails['cached_tokens']), prompt);
  const cacheWrite = Math.min(count(promptDetails['cache_write_tokens']), prompt - cacheRead);
  const reasoning = Math.min(count(completionDetails['reasoning_tokens']), completion);
  return {
    input: prompt - cacheRead - cacheWrite,
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output: completion - reasoning,
    reasoning,
  };
}

/** A usage in this family's words. */
export function writeUsage(usage: Usage): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.input + usage.cacheRead + written;
  const completion = usage.output + usage.reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}

/** An answer's id, if it is one that a row can hold. */
export function readId(id: Json | undefined): string | undefined {
  return typeof id === 'string' && /^[\w.:@/+=-]{1,128}$/.test(id) ? id : undefined;
}

function isCount(value: Json | undefined): boolean {
  return typeof value === 'number' && value >= 0;
}

/** More tokens than any answer has: a larger figure is a provider's fault, not a bill. */
const MAX_COUNT = 1_000_000_000;

function count(value: Json | undefined): number {
  return typeof value === 'number' && value > 0 ? Math.floor(Math.min(value, MAX_COUNT)) : 0;
}
