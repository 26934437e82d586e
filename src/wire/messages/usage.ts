import type { Edit, WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode, type ObjectNode } from '../document/scan.ts';
import {
  inputTokens,
  inServiceTier,
  isTold,
  NO_USAGE,
  outputTokens,
  toldCount,
  tokenCount,
  withSearches,
  type Usage,
} from '../answer/usage.ts';

/** Passes over the prompt that the totals leave out: those by other models, and of making a conversation shorter. */
const BESIDE = new Set<unknown>(['compaction', 'advisor_message']);

/**
 * A usage object in disjoint buckets: this family counts cached input apart from fresh input, and thinking inside the
 * output. Details that are missing or nonsensical count as zero. // wire-formats 3.2
 */
export function readUsage(usage: Json | undefined): Usage | undefined {
  // Without both figures it is no account of anything: our own count is billed instead.
  if (!isObject(usage) || !isTold(usage['input_tokens']) || !isTold(usage['output_tokens'])) return undefined;
  const { iterations } = usage;
  let total = readOne(usage);
  for (const iteration of Array.isArray(iterations) ? (iterations as readonly Json[]) : []) {
    if (isObject(iteration) && BESIDE.has(iteration['type'])) total = sum(total, readOne(iteration));
  }
  const tools = isObject(usage['server_tool_use']) ? usage['server_tool_use'] : {};
  return withSearches(inServiceTier(total, usage['service_tier'], usage), tokenCount(tools['web_search_requests']));
}

function readOne(usage: JsonObject): Usage {
  const output = toldCount(usage['output_tokens']);
  const details = isObject(usage['output_tokens_details']) ? usage['output_tokens_details'] : {};
  const reasoning = Math.min(tokenCount(details['thinking_tokens']), output);
  return {
    ...NO_USAGE,
    input: toldCount(usage['input_tokens']),
    cacheRead: tokenCount(usage['cache_read_input_tokens']),
    ...writesOf(usage),
    output: output - reasoning,
    reasoning,
  };
}

/** What the split leaves out of the whole was written for as long as the rest; without a split, for five minutes. */
function writesOf(usage: JsonObject): Pick<Usage, 'cacheWrite5m' | 'cacheWrite1h'> {
  const { short, long } = splitOf(usage);
  const rest = Math.max(0, tokenCount(usage['cache_creation_input_tokens']) - short - long);
  if (short === 0 && long > 0) return { cacheWrite5m: 0, cacheWrite1h: long + rest };
  return { cacheWrite5m: short + rest, cacheWrite1h: long };
}

function splitOf(usage: JsonObject): { readonly short: number; readonly long: number } {
  const split = isObject(usage['cache_creation']) ? usage['cache_creation'] : {};
  return {
    short: tokenCount(split['ephemeral_5m_input_tokens']),
    long: tokenCount(split['ephemeral_1h_input_tokens']),
  };
}

function sum(one: Usage, other: Usage): Usage {
  return {
    input: one.input + other.input,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite5m: one.cacheWrite5m + other.cacheWrite5m,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}

/**
 * The usage that a stream reports in pieces: later values replace earlier ones, field by field, and null changes
 * nothing.
 */
export class StreamedUsage {
  #told: JsonObject = {};

  /** All that is known with this event's usage, if it has one. */
  add(usage: Json | undefined): Usage | undefined {
    if (!isObject(usage)) return undefined;
    const told: Record<string, Json | undefined> = { ...this.#told };
    for (const name in usage) if (usage[name] !== null) told[name] = usage[name];
    // An earlier split that exceeds the current total is obsolete.
    const { short, long } = splitOf(told);
    const isStale = isTold(usage['cache_creation_input_tokens']) && !isObject(usage['cache_creation']);
    if (isStale && short + long > tokenCount(told['cache_creation_input_tokens'])) delete told['cache_creation'];
    this.#told = told;
    return readUsage(told);
  }
}

/** A usage in this family's words. */
export function writeUsage(usage: Usage): JsonObject {
  const { cacheWrite5m, cacheWrite1h, reasoning, searches } = usage;
  const cacheRead = usage.cacheRead + (usage.cacheReadAudio ?? 0);
  const split = { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h };
  return {
    input_tokens: inputTokens(usage) - cacheRead - cacheWrite5m - cacheWrite1h,
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    ...(cacheWrite1h > 0 ? { cache_creation: split } : {}),
    output_tokens: outputTokens(usage),
    ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    ...(searches === undefined ? {} : { server_tool_use: { web_search_requests: searches } }),
  };
}

/** Edits that count all cached input as fresh, in an answer or in the frames that tell usage. // spec 4.3.3 */
export function hideCacheCounts(document: WireDocument): readonly Edit[] {
  const edits: Edit[] = [];
  for (const holder of [document.root, member(document.root, 'message')]) {
    const usage = member(holder, 'usage');
    if (usage?.kind !== 'object') continue;
    hide(usage, edits);
    const iterations = member(usage, 'iterations');
    for (const one of iterations?.kind === 'array' ? iterations.items : []) if (one.kind === 'object') hide(one, edits);
  }
  return edits;
}

function hide(usage: ObjectNode, edits: Edit[]): void {
  const input = member(usage, 'input_tokens');
  const figure = (node: JsonNode | undefined): number =>
    node?.kind === 'number' ? tokenCount(Number(node.source)) : 0;
  const split = member(usage, 'cache_creation');
  const whole = figure(member(usage, 'cache_creation_input_tokens'));
  const parts = split?.kind === 'object' ? split.members.reduce((so, { value }) => so + figure(value), 0) : 0;
  const cached = figure(member(usage, 'cache_read_input_tokens')) + Math.max(whole, parts);
  if (cached > 0 && input?.kind === 'number') {
    edits.push({ start: input.start, end: input.end, text: String(figure(input) + cached) });
  }
  // By the word in their names: a count that is new must not slip through.
  for (const { key, value } of usage.members) if (key.value.includes('cache')) clear(value, edits);
}

function clear(node: JsonNode, edits: Edit[]): void {
  if (node.kind === 'object') for (const { value } of node.members) clear(value, edits);
  else if (node.kind === 'number' && node.source !== '0') edits.push({ start: node.start, end: node.end, text: '0' });
}
