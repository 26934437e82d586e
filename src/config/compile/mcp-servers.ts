import { LOCAL_PROVIDER } from '../local-provider.ts';
import { isMachineAddress } from '../machine-address.ts';
import { isNearHost } from '../near-host.ts';
import { isThisMachine, portOf } from '../own-ports.ts';
import type { MCPServerSpec } from '../resources/mcp-server.ts';
import { toSnapshot } from '../resources/names.ts';
import type { McpServerAuth, McpServerConfig, ToolDefinitionsConfig } from '../snapshot.ts';
import { compileApi } from './api-operations.ts';
import type { Resource } from './catalog.ts';
import { follow, type Compilation } from './context.ts';
import { defaultPrefix } from './tool-prefix.ts';
import { compileToolRules } from './tool-rules.ts';

/** The MCP servers that a workload of an organization reaches, by name. */
export type McpServersOf = (
  workload: Resource<'Workload'>,
  organization: Resource<'Organization'>,
) => ReadonlyMap<string, McpServerConfig>;

/** A server, and the workloads of its namespace that may use it; undefined: all may. */
interface Offered {
  readonly server: McpServerConfig;
  readonly workloads: ReadonlySet<string> | undefined;
}

const NONE: ReadonlyMap<string, McpServerConfig> = new Map();

/**
 * Compiles every MCPServer. A workload reaches those of its own namespace that let it, then those of its organization's
 * namespace that are open to all, unless it has one of the same name or prefix.
 */
export function compileMcpServers(compilation: Compilation): McpServersOf {
  const byNamespace = new Map<string, Offered[]>();
  const prefixes = new Map<string, string>();
  for (const resource of compilation.catalog.all('MCPServer')) {
    const server = compileServer(compilation, resource);
    const { workloads } = resource.body.spec;
    for (const [index, name] of (workloads ?? []).entries()) {
      follow(compilation, resource, `spec.workloads[${index}]`, 'Workload', `${resource.namespace}/${name}`);
    }
    refuseReserved(compilation, resource, server);
    const key = `${resource.namespace}/${server.prefix}`;
    const holder = prefixes.get(key);
    if (holder !== undefined) {
      compilation.faults.add(
        resource,
        'spec.prefix',
        `is already the prefix of MCPServer ${holder}: set another one`,
        'Conflicted',
      );
      continue;
    }
    prefixes.set(key, resource.id);
    const allowed = workloads && new Set(workloads.map((name) => `${resource.namespace}/${name}`));
    const neighbours = byNamespace.get(resource.namespace);
    if (neighbours) neighbours.push({ server, workloads: allowed });
    else byNamespace.set(resource.namespace, [{ server, workloads: allowed }]);
  }
  return (workload, organization) => {
    const own = byNamespace.get(workload.namespace) ?? [];
    const others = workload.namespace === organization.namespace ? [] : (byNamespace.get(organization.namespace) ?? []);
    const mine = own.filter(({ workloads }) => workloads === undefined || workloads.has(workload.id));
    return reachOf([...mine, ...others.filter(({ workloads }) => workloads === undefined)]);
  };
}

/** The gateway's own tools have this name: no others may be taken for them. */
function refuseReserved({ faults }: Compilation, resource: Resource<'MCPServer'>, server: McpServerConfig): void {
  const { slug } = LOCAL_PROVIDER;
  const why = `is taken: ${slug} are the tools of the gateway itself`;
  if (server.name === slug) faults.add(resource, 'metadata.name', why);
  else if (server.prefix === slug) faults.add(resource, 'spec.prefix', why);
}

/** By name; the first of a name, and of a prefix, holds it. */
function reachOf(offered: readonly Offered[]): ReadonlyMap<string, McpServerConfig> {
  if (offered.length === 0) return NONE;
  const servers = new Map<string, McpServerConfig>();
  const prefixes = new Set<string>();
  for (const { server } of offered) {
    if (servers.has(server.name) || prefixes.has(server.prefix)) continue;
    servers.set(server.name, server);
    prefixes.add(server.prefix);
  }
  return servers;
}

function compileServer(compilation: Compilation, resource: Resource<'MCPServer'>): McpServerConfig {
  const { spec } = resource.body;
  const { url } = spec.endpoint;
  const name = resource.id.slice(resource.namespace.length + 1);
  refuseAddress(compilation, resource, 'spec.endpoint.url', url);
  const { include, exclude, only } = spec.tools ?? {};
  const api = compileApi(compilation, resource);
  return Object.freeze({
    id: resource.id,
    name,
    prefix: spec.prefix ?? defaultPrefix(name),
    url,
    jurisdiction: spec.jurisdiction,
    auth: compileAuth(compilation, resource),
    trust: toSnapshot('trust', spec.trust),
    sessions: toSnapshot('clientSessions', spec.sessions),
    clientCapabilities: Object.freeze(
      (spec.clientCapabilities ?? []).map((capability) => toSnapshot('clientCapability', capability)),
    ),
    ...(include && { include: Object.freeze([...include]) }),
    ...(exclude && { exclude: Object.freeze([...exclude]) }),
    offer: new Set(spec.offer.map((feature) => toSnapshot('mcpFeature', feature))),
    readOnlyTools: only === 'ReadOnly',
    ...compileDefinitions(spec.definitions),
    rules: compileToolRules(compilation, resource),
    ...(spec.callsPerMinute !== undefined && { callsPerMinute: spec.callsPerMinute }),
    maxResultBytes: spec.maxResultKiB * 1024,
    timeoutSeconds: spec.timeoutSeconds,
    ...(api && { api }),
  });
}

function compileDefinitions({
  mode: written,
  tools = [],
  prompts = [],
  instructions,
}: MCPServerSpec['definitions']): Pick<
  McpServerConfig,
  'definitions' | 'promptDefinitions' | 'instructionDefinitions'
> {
  const mode = toSnapshot('definitionsMode', written);
  const declaring = (some: readonly { readonly name: string; readonly sha256: string }[]): ToolDefinitionsConfig =>
    Object.freeze({ mode, declared: new Map(some.map(({ name, sha256 }) => [name, sha256])) });
  return {
    definitions: declaring(tools),
    promptDefinitions: declaring(prompts),
    instructionDefinitions: declaring(
      instructions === undefined ? [] : [{ name: 'instructions', sha256: instructions }],
    ),
  };
}

/** Services of a machine and of the gateway itself are no servers of tools, and a credential in clear is read on its way. */
function refuseAddress({ faults, ownPorts }: Compilation, resource: Resource<'MCPServer'>, field: string, url: string) {
  const { protocol, hostname, port } = new URL(url);
  if (isMachineAddress(hostname)) {
    faults.add(resource, field, 'must not be a link-local address or a metadata service');
  }
  if (isThisMachine(hostname) && ownPorts.has(portOf({ port, protocol }))) {
    faults.add(resource, field, 'must not be a port of the gateway itself: give the server another port');
  }
  const { type } = resource.body.spec.auth;
  if (type === 'None' || protocol === 'https:' || isNearHost(hostname)) return;
  faults.add(resource, field, 'must start with https:// where the gateway sends a credential');
}

/** Headers that are the protocol's, or that say where a message ends. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['accept', 'connection', 'content-length', 'content-type', 'content-encoding', 'expect', 'host', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade', 'last-event-id'],
]);

function compileAuth(compilation: Compilation, resource: Resource<'MCPServer'>): McpServerAuth {
  const { secrets, faults } = compilation;
  const { type, header, secretKeyRef, tokenUrl, clientId, scopes = [] } = resource.body.spec.auth;
  const secret = secretKeyRef && secrets.read(resource, 'spec.auth.secretKeyRef', secretKeyRef);
  if (type === 'None' || secret === undefined) return NO_AUTH;
  if (!/^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(secret))
    faults.add(resource, 'spec.auth.secretKeyRef', 'must be printable ASCII characters, as a header needs');
  if (type === 'ClientCredentials' || type === 'TokenExchange') {
    if (tokenUrl === undefined || clientId === undefined) return NO_AUTH;
    refuseAddress(compilation, resource, 'spec.auth.tokenUrl', tokenUrl);
    return Object.freeze({ type: GRANTS[type], tokenUrl, clientId, clientSecret: secret, scopes });
  }
  if (type === 'Bearer') return Object.freeze({ type: 'header', header: 'authorization', value: `Bearer ${secret}` });
  const name = (header ?? '').toLowerCase();
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || TAKEN.has(name) || name.startsWith('mcp-'))
    faults.add(resource, 'spec.auth.header', "must be the name of a header that is not the protocol's own");
  return Object.freeze({ type: 'header', header: name, value: secret });
}

const GRANTS = { ClientCredentials: 'client_credentials', TokenExchange: 'token_exchange' } as const;

const NO_AUTH: McpServerAuth = Object.freeze({ type: 'none' });
