import { BadRequestShape } from '../codec.ts';
import type { WireDocument } from '../../document/document.ts';
import { says } from '../defined-members.ts';
import { isObject, type Json, type JsonObject } from '../../document/json.ts';
import { isArray, requiredString } from '../../request/request-shape.ts';

/** A server of tools that a request names, for the gateway to call. */
export interface NamedServer {
  /** Where it stands: `tools[0]`. */
  readonly param: string;
  /** Name of the MCPServer. */
  readonly label: string;
  /** Names of its tools that may be offered; undefined: all that the workload may call. */
  readonly allowed: ReadonlySet<string> | undefined;
}

/** Members that say where a server is: of the caller's choice, for the provider to call. */
const ADDRESSES = ['server_url', 'connector_id'];
const MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'server_label',
  'server_description',
  'allowed_tools',
  'require_approval',
  ...ADDRESSES,
]);
/** More servers than this no request names. */
const MOST_SERVERS = 32;
/** More names than a server may list tools. */
const MOST_ALLOWED = 1000;

/**
 * The servers whose tools the gateway is to run, each of the form `{"type": "mcp", "server_label": …}`. Undefined: the
 * request names none, or only servers that its provider would call, which others refuse. Throws `BadRequestShape`.
 */
export function namedServers({ body }: WireDocument): readonly NamedServer[] | undefined {
  const { tools } = body;
  if (!isArray(tools)) return undefined;
  const entries = [...tools.entries()].filter((entry): entry is [number, JsonObject] => isServer(entry[1]));
  const addressed = entries.filter(([, tool]) => ADDRESSES.some((name) => says(tool[name])));
  if (addressed.length === entries.length) return undefined;
  const [first] = addressed;
  if (first) {
    const param = `tools[${first[0]}]`;
    const message = `${param} must not say where its server is: register the server as an MCPServer, and name it in server_label`;
    throw new BadRequestShape(message, param);
  }
  if (entries.length > MOST_SERVERS) {
    throw new BadRequestShape(`tools must name at most ${MOST_SERVERS} servers`, 'tools');
  }
  const servers = entries.map(([at, tool]) => readServer(tool, `tools[${at}]`));
  const labels = new Set<string>();
  for (const { label, param } of servers) {
    if (labels.has(label)) throw new BadRequestShape(`${param}.server_label must differ from those before it`, param);
    labels.add(label);
  }
  return servers;
}

/** Whether an item of `tools` names a server of tools. */
export function isServer(tool: Json): boolean {
  return isObject(tool) && tool['type'] === 'mcp';
}

function readServer(tool: JsonObject, param: string): NamedServer {
  const unknown = Object.keys(tool).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) {
    const message =
      `${param} has a member that is not supported. Use type, server_label, allowed_tools and require_approval: ` +
      'the address and the credentials of a server stand in its MCPServer';
    throw new BadRequestShape(message, param);
  }
  if (tool['require_approval'] !== 'never') {
    const message = `${param}.require_approval must be "never": the gateway asks no client for approval`;
    throw new BadRequestShape(message, `${param}.require_approval`);
  }
  const label = requiredString(tool, 'server_label', param);
  return { param, label, allowed: allowedIn(tool['allowed_tools'], `${param}.allowed_tools`) };
}

function allowedIn(written: Json | undefined, param: string): ReadonlySet<string> | undefined {
  if (written === undefined || written === null) return undefined;
  const names = isObject(written) && Object.keys(written).join(',') === 'tool_names' ? written['tool_names'] : written;
  const isList = isArray(names) && names.length <= MOST_ALLOWED;
  if (isList && names.every((name) => typeof name === 'string')) return new Set(names);
  const message = `${param} must be an array of at most ${MOST_ALLOWED} names of tools, or an object with tool_names`;
  throw new BadRequestShape(message, param);
}
