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
  /** Whether the client wants to be asked before a call of this tool. */
  readonly asksClient: (tool: string) => boolean;
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
 * request names none, or only servers that its provider would call, which others refuse. `asksClients`: whether the family
 * can ask a client to approve a call. Throws `BadRequestShape`.
 */
export function namedServers({ body }: WireDocument, asksClients: boolean): readonly NamedServer[] | undefined {
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
  const servers = entries.map(([at, tool]) => readServer(tool, `tools[${at}]`, asksClients));
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

function readServer(tool: JsonObject, param: string, asksClients: boolean): NamedServer {
  const unknown = Object.keys(tool).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) {
    const message =
      `${param} has a member that is not supported. Use type, server_label, allowed_tools and require_approval: ` +
      'the address and the credentials of a server stand in its MCPServer';
    throw new BadRequestShape(message, param);
  }
  const asksClient = approvalIn(tool['require_approval'], `${param}.require_approval`, asksClients);
  const label = requiredString(tool, 'server_label', param);
  return { param, label, allowed: allowedIn(tool['allowed_tools'], `${param}.allowed_tools`), asksClient };
}

/** As with the vendor, approval is needed unless the request says otherwise. */
function approvalIn(written: Json | undefined, param: string, asksClients: boolean): NamedServer['asksClient'] {
  if (written === 'never') return () => false;
  if (!asksClients) {
    throw new BadRequestShape(`${param} must be "never": this endpoint cannot ask its client for approval`, param);
  }
  if (written === undefined || written === null || written === 'always') return () => true;
  const { always, never, ...others } = isObject(written) ? written : { other: written };
  if (Object.keys(others).length > 0) {
    throw new BadRequestShape(`${param} must be "always", "never", or an object with always and never`, param);
  }
  const asked = namesIn(always, `${param}.always`);
  const free = namesIn(never, `${param}.never`);
  return (tool) => asked?.has(tool) === true || free?.has(tool) !== true;
}

function allowedIn(written: Json | undefined, param: string): ReadonlySet<string> | undefined {
  return namesIn(isArray(written) ? { tool_names: written } : written, param, 'an array, or ');
}

/** Names of tools in `{tool_names: […]}`. */
function namesIn(written: Json | undefined, param: string, or = ''): ReadonlySet<string> | undefined {
  if (written === undefined || written === null) return undefined;
  const names =
    isObject(written) && Object.keys(written).join(',') === 'tool_names' ? written['tool_names'] : undefined;
  const isList = isArray(names) && names.length <= MOST_ALLOWED;
  if (isList && names.every((name) => typeof name === 'string')) return new Set(names);
  const message = `${param} must be ${or}an object with tool_names: at most ${MOST_ALLOWED} names of tools`;
  throw new BadRequestShape(message, param);
}
