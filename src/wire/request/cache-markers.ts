import type { WireDocument } from '../document/document.ts';
import { member, type JsonNode, type ObjectNode } from '../document/scan.ts';

/** An explicit request to cache the prompt up to where it stands. */
export interface CacheMarker {
  /** The object that carries it. */
  readonly object: ObjectNode;
  /** The member it is. */
  readonly name: string;
  /** As written; undefined where none is, or not as a string. */
  readonly ttl: string | undefined;
}

/** What vendors call a marker: a member of what it marks. */
const NAMES: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint']);

/** Members below which markers stand: lists of turns, blocks, parts and tools. Never schemas, arguments or inputs. */
const LISTS: readonly string[] = ['system', 'messages', 'input', 'tools'];
/** Members of an item whose items are marked in turn: of a message, a tool result, a call's output. */
const NESTED: readonly string[] = ['content', 'output', 'tool_calls'];
const MAX_DEPTH = 4;

/** Every explicit cache marker of a request, in no order. // spec 4.3.2 */
export function cacheMarkers({ root, text }: WireDocument): readonly CacheMarker[] {
  // Most requests have none, and looking for the word is cheaper than walking the conversation. It may be escaped.
  if (!text.includes('cache') && !text.includes('\\u')) return [];
  const found: CacheMarker[] = [];
  collect(root, found);
  for (const name of LISTS) visitList(member(root, name), found, 0);
  return found;
}

function visitList(node: JsonNode | undefined, found: CacheMarker[], depth: number): void {
  if (node?.kind !== 'array' || depth > MAX_DEPTH) return;
  for (const item of node.items) {
    if (item.kind !== 'object') continue;
    collect(item, found);
    const definition = member(item, 'function');
    if (definition?.kind === 'object') collect(definition, found);
    for (const name of NESTED) visitList(member(item, name), found, depth + 1);
    visitList(member(member(item, 'source'), 'content'), found, depth + 1);
  }
}

function collect(object: ObjectNode, found: CacheMarker[]): void {
  for (const { key, value } of object.members) {
    if (!NAMES.has(key.value)) continue;
    const ttl = member(value, 'ttl');
    found.push({ object, name: key.value, ttl: ttl?.kind === 'string' ? ttl.value : undefined });
  }
}
