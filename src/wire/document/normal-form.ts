import type { Family, WireDocument } from './document.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import type { JsonNode } from './scan.ts';

/** Members that say how an answer is delivered, billed or traced, not what it says. Nothing here is echoed in it. */
const DELIVERY = ['stream', 'stream_options'];
const TRACING = [...DELIVERY, 'user'];
const BESIDE_THE_POINT: { readonly [F in Family]?: ReadonlySet<string> } = {
  chat: new Set([
    ...TRACING,
    'metadata',
    'prompt_cache_key',
    'prompt_cache_options',
    'prompt_cache_retention',
    'safety_identifier',
  ]),
  messages: new Set(['stream', 'metadata']),
  // Its answers repeat the rest.
  responses: new Set(DELIVERY),
  completions: new Set(TRACING),
  embeddings: new Set(TRACING),
  moderations: new Set(TRACING),
  ocr: new Set(['id']),
  gemini: new Set(),
  converse: new Set(['requestMetadata']),
};

/**
 * A request's text without details that do not change its answer: members sorted by name, no blanks, numbers and
 * strings spelt one way. Two requests with the same normal form are the same request. Undefined if an answer depends on
 * more than the text, or does more: provider-side tools, stored conversations, generated images.
 */
export function normalForm({ family, body, root }: WireDocument): string | undefined {
  const beside = BESIDE_THE_POINT[family];
  if (!beside || reachesFurther(family, body)) return undefined;
  const members = root.members.filter(({ key }) => !beside.has(key.value));
  return writeObject({ ...root, members });
}

function write(node: JsonNode): string {
  switch (node.kind) {
    case 'string':
      return JSON.stringify(node.value);
    case 'array':
      return `[${node.items.map(write).join(',')}]`;
    case 'object':
      return writeObject(node);
    case 'number':
      return writeNumber(node.source);
    case 'literal':
      return node.source;
  }
}

function writeObject({ members }: Extract<JsonNode, { kind: 'object' }>): string {
  const sorted = members.toSorted(({ key: a }, { key: b }) => (a.value < b.value ? -1 : Number(a.value > b.value)));
  return `{${sorted.map(({ key, value }) => `${JSON.stringify(key.value)}:${write(value)}`).join(',')}}`;
}

/** A whole number too large for a double stays as it is spelt: another one may read it exactly. */
function writeNumber(source: string): string {
  const number = Number(source);
  const exact = Number.isSafeInteger(number) || (/[.eE]/.test(source) && Number.isFinite(number));
  return exact ? String(number) : source;
}

/** Whether the provider does, or looks up, more than the request's text tells. */
function reachesFurther(family: Family, body: JsonObject): boolean {
  const has = (name: string): boolean => body[name] !== undefined && body[name] !== null && body[name] !== false;
  switch (family) {
    case 'chat':
      return ['store', 'web_search_options', 'search_parameters', 'mcp_servers'].some(has) || runsTools(body, PROPOSED);
    case 'messages':
      return has('container') || has('mcp_servers') || runsTools(body, ['custom', undefined]);
    case 'responses':
      return (
        ['conversation', 'background', 'prompt', 'previous_response_id', 'mcp_servers'].some(has) ||
        runsTools(body, PROPOSED)
      );
    case 'gemini':
      return has('cachedContent') || toolsOf(body['tools']).some((tool) => !isOnly(tool, 'functionDeclarations'));
    case 'converse': {
      const config = body['toolConfig'];
      const tools = isObject(config) ? toolsOf(config['tools']) : [];
      return tools.some((tool) => !isOnly(tool, 'toolSpec') && !isOnly(tool, 'cachePoint'));
    }
    default:
      return false;
  }
}

/** Tools whose calls are only proposed to the client. */
const PROPOSED = ['function', 'custom'];

function runsTools(body: JsonObject, proposed: readonly (string | undefined)[]): boolean {
  return toolsOf(body['tools']).some(
    (tool) => !isObject(tool) || !proposed.includes(tool['type'] as string | undefined),
  );
}

function toolsOf(tools: Json | undefined): readonly Json[] {
  return Array.isArray(tools) ? (tools as readonly Json[]) : [];
}

function isOnly(tool: Json, name: string): boolean {
  return isObject(tool) && Object.keys(tool).every((key) => key === name);
}
