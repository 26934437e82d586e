import type { ListedResource, ListedTool, ResourceListing, ServerAbout, ToolListing } from '#/ports/mcp-servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { uriFault } from '#/wire/mcp/resource-uris.ts';
import { listPages, type PagedList } from './list-pages.ts';
import type { Peer } from './peer.ts';

/** Prompts, resources and templates of one server that are looked at. */
const MOST_LISTED = 1000;
const PROMPTS = { what: 'prompts', method: 'prompts/list', member: 'prompts', most: MOST_LISTED };
const RESOURCES = { what: 'resources', method: 'resources/list', member: 'resources', most: MOST_LISTED };
const TEMPLATES = {
  what: 'templates',
  method: 'resources/templates/list',
  member: 'resourceTemplates',
  most: MOST_LISTED,
};
/** Longer instructions are not passed on, in UTF-16 code units. */
const MOST_INSTRUCTIONS = 8192;
const NO_SCHEMA: JsonObject = {};

/** The prompts of a server, each with its definition. Entries that define none are left out. */
export async function listPrompts(peer: Peer, timeoutMs: number): Promise<ToolListing> {
  const { items, isCut: _, ...list } = await pagesOf(peer, PROMPTS, 'prompts', timeoutMs);
  const tools = items.flatMap((definition): readonly ListedTool[] => {
    if (!isObject(definition) || typeof definition['name'] !== 'string') return [];
    return [{ name: definition['name'], definition, inputSchema: NO_SCHEMA, headers: [] }];
  });
  return { ...list, tools, leftOut: items.length - tools.length };
}

/** The resources of a server. */
export function listResources(peer: Peer, timeoutMs: number): Promise<ResourceListing> {
  return resourcesOf(peer, RESOURCES, 'uri', timeoutMs);
}

/** Its templates of resources. */
export function listTemplates(peer: Peer, timeoutMs: number): Promise<ResourceListing> {
  return resourcesOf(peer, TEMPLATES, 'uriTemplate', timeoutMs);
}

/** What a server says of itself. */
export async function readAbout(peer: Peer, timeoutMs: number): Promise<ServerAbout> {
  const { capabilities, instructions, ttlMs, version } = await peer.about(timeoutMs);
  const isLong = instructions !== undefined && instructions.length > MOST_INSTRUCTIONS;
  const tools: readonly ListedTool[] =
    instructions === undefined || instructions.trim() === '' || isLong
      ? []
      : [
          {
            name: 'instructions',
            definition: { name: 'instructions', instructions },
            inputSchema: NO_SCHEMA,
            headers: [],
          },
        ];
  const bytes = 1024 + 2 * (instructions?.length ?? 0);
  return { capabilities, tools, leftOut: isLong ? 1 : 0, bytes, ttlMs, version };
}

/** A list that only a server with the capability is asked for. */
async function pagesOf(peer: Peer, list: PagedList, capability: string, timeoutMs: number) {
  const until = performance.now() + timeoutMs;
  const { capabilities, version } = await peer.about(timeoutMs);
  if (!capabilities.has(capability)) return { items: [], bytes: 0, ttlMs: undefined, version, isCut: false };
  return listPages(peer, list, Math.max(1, Math.ceil(until - performance.now())));
}

async function resourcesOf(
  peer: Peer,
  list: PagedList,
  address: 'uri' | 'uriTemplate',
  timeoutMs: number,
): Promise<ResourceListing> {
  const { items, ...read } = await pagesOf(peer, list, 'resources', timeoutMs);
  const byUri = new Map<string, ListedResource>();
  for (const item of items) {
    const resource = readResource(item, address);
    if (resource && !byUri.has(resource.uri)) byUri.set(resource.uri, resource);
  }
  return { ...read, resources: [...byUri.values()], leftOut: items.length - byUri.size };
}

/** Members that clients get: no pictures, whose addresses a server chooses. */
const TEXTS = ['title', 'description', 'mimeType'] as const;

function readResource(item: Json, address: 'uri' | 'uriTemplate'): ListedResource | undefined {
  if (!isObject(item)) return undefined;
  const { [address]: uri, name, size, annotations } = item;
  if (typeof uri !== 'string' || typeof name !== 'string') return undefined;
  if (uriFault(uri, address === 'uri' ? 'resource' : 'template') !== undefined) return undefined;
  const definition: Record<string, Json> = { [address]: uri, name };
  for (const text of TEXTS) if (typeof item[text] === 'string') definition[text] = item[text];
  if (address === 'uri' && typeof size === 'number' && size >= 0) definition['size'] = size;
  const told = isObject(annotations) ? readAnnotations(annotations) : undefined;
  if (told) definition['annotations'] = told;
  return { uri, definition };
}

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant']);

function readAnnotations({ audience, priority, lastModified }: JsonObject): JsonObject | undefined {
  const told: Record<string, Json> = {};
  if (Array.isArray(audience) && audience.length <= 2 && audience.every((role) => ROLES.has(role)))
    told['audience'] = audience;
  if (typeof priority === 'number' && priority >= 0 && priority <= 1) told['priority'] = priority;
  if (typeof lastModified === 'string' && /^[\dTZ:.+-]{10,40}$/.test(lastModified)) told['lastModified'] = lastModified;
  return Object.keys(told).length > 0 ? told : undefined;
}
