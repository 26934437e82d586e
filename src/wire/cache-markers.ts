import type { WireDocument } from './document.ts';
import { member, type JsonNode, type ObjectNode } from './scan.ts';

/** One `cache_control` of a request. */
export interface CacheMarker {
  /** The object that has the member. */
  readonly object: ObjectNode;
  /** As written; undefined where it names none. */
  readonly ttl: string | undefined;
}

/**
 * The explicit cache markers of a chat or messages request: on the request itself, on system blocks, messages, content
 * parts (also those within tool results) and tools. Never inside a tool's schema or input, where the name is the
 * client's own. // spec 4.3.2
 */
export function cacheMarkers({ root }: WireDocument): readonly CacheMarker[] {
  const found: CacheMarker[] = [];
  const look = (node: JsonNode): void => {
    if (node.kind !== 'object') return;
    const marker = member(node, 'cache_control');
    if (marker === undefined) return;
    const ttl = member(marker, 'ttl');
    found.push({ object: node, ttl: ttl?.kind === 'string' ? ttl.value : undefined });
  };
  const lookAtParts = (content: JsonNode | undefined): void => {
    for (const part of itemsOf(content)) {
      look(part);
      lookAtParts(member(part, 'content'));
    }
  };
  look(root);
  lookAtParts(member(root, 'system'));
  for (const tool of itemsOf(member(root, 'tools'))) {
    look(tool);
    const inner = member(tool, 'function');
    if (inner) look(inner);
  }
  for (const message of itemsOf(member(root, 'messages'))) {
    look(message);
    lookAtParts(member(message, 'content'));
  }
  return found;
}

function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}
