import type { Edit, WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { containersIn } from './containers.ts';
import {
  inputTokens,
  inServiceTier,
  isTold,
  outputTokens,
  toldCount,
  tokenCount,
  withSearches,
  type Usage,
} from '../answer/usage.ts';

/**
 * A usage object in disjoint buckets. This family counts cached and written tokens inside the input and reasoning inside
 * the output; details that are missing or nonsensical count as zero. // wire-formats 3.2
 */
export function readUsage(usage: Json | undefined): Usage | undefined {
  // Without both figures it is no account of anything: our own count is billed instead.
  if (!isObject(usage) || !isTold(usage['input_tokens']) || !isTold(usage['output_tokens'])) return undefined;
  const input = toldCount(usage['input_tokens']);
  const output = toldCount(usage['output_tokens']);
  const details = detailsOf(usage, 'input_tokens_details');
  const cacheRead = Math.min(tokenCount(details['cached_tokens']), input);
  const written = Math.min(tokenCount(details['cache_write_tokens']), input - cacheRead);
  // Of the two lifetimes there are here, the longer is the one that is priced like an hour elsewhere.
  const ttls = detailsOf(details, 'cache_write_tokens_details');
  const cacheWrite1h = Math.min(tokenCount(ttls['ttl_12h_tokens'] ?? ttls['ttl_12h']), written);
  const reasoning = Math.min(tokenCount(detailsOf(usage, 'output_tokens_details')['reasoning_tokens']), output);
  return {
    input: input - cacheRead - written,
    cacheRead,
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    output: output - reasoning,
    reasoning,
  };
}

/** The usage of a response, in the service tier it says, with what is billed by its items. */
export function usageOf(response: JsonObject): Usage | undefined {
  const usage = readUsage(response['usage']);
  if (!usage) return undefined;
  const { output, tools, service_tier: tier } = response;
  const items = Array.isArray(output) ? (output as readonly Json[]) : [];
  const fileSearches = items.filter((item) => isObject(item) && item['type'] === 'file_search_call').length;
  const containers = containersIn(items, tools);
  return {
    ...withSearches(inServiceTier(usage, tier), searchesIn(items)),
    ...(fileSearches > 0 && { fileSearches }),
    ...(containers > 0 && { containers }),
  };
}

/** What opens a page that was found, or looks through it, is no search. */
function searchesIn(output: readonly Json[]): number {
  return output.filter((item) => {
    if (!isObject(item) || item['type'] !== 'web_search_call') return false;
    const { action } = item;
    return !isObject(action) || action['type'] === undefined || action['type'] === 'search';
  }).length;
}

/** A usage in this family's words. */
export function writeUsage(usage: Usage): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead + (usage.cacheReadAudio ?? 0), cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}

/** Edits that count every input token as a fresh one, in an answer or in the event that ends a stream. */
export function hideCacheCounts(document: WireDocument): readonly Edit[] {
  const edits: Edit[] = [];
  for (const holder of [document.root, member(document.root, 'response')]) {
    hide(member(member(holder, 'usage'), 'input_tokens_details'), edits);
  }
  return edits;
}

/** Details of the input are all counts of the cache, or of what a later version of the family tells about it. */
function hide(node: JsonNode | undefined, edits: Edit[]): void {
  if (node?.kind !== 'object') return;
  for (const { key, value } of node.members) {
    if (value.kind === 'object') hide(value, edits);
    else if (value.kind === 'number' && value.source !== '0' && /cache|ttl/.test(key.value)) {
      edits.push({ start: value.start, end: value.end, text: '0' });
    }
  }
}

function detailsOf(usage: JsonObject, name: string): JsonObject {
  const details = usage[name];
  return isObject(details) ? details : {};
}
