import { parseArgs } from 'node:util';
import { loadFolder } from '#/config/folder/folder-source.ts';
import type { McpServerConfig, Snapshot } from '#/config/snapshot.ts';
import { LIST_MS } from '#/pipeline/tools/server-lists.ts';
import {
  McpServerFault,
  McpTokenFault,
  type McpServers,
  type McpTokenFaultKind,
  type ResourceListing,
  type ToolListing,
} from '#/ports/mcp-servers.ts';
import { UpstreamFault, type UpstreamFaultKind } from '#/ports/provider.ts';
import { createTransport } from '#/providers/http/transport.ts';
import { createMcpServers } from '#/providers/mcp/servers.ts';
import { readDefinitions } from '#/route/tools/definitions.ts';
import { showHidden } from '#/values/hidden-characters.ts';
import { IMPLEMENTATION } from '#/version.ts';
import { formatFault } from '../config/check-folder.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const MCP_PROBE_HELP = `gwctl mcp probe SERVER [--config DIR] [--secrets-dir DIR] [--json]

Asks an MCP server for its tools as a gateway does, with the address and the credential of its resource: which revision of
the protocol it speaks, its tools, and the hash of each definition; and what else its resource offers: prompts and
instructions with their hashes, resources and templates with their URIs. Calls no tool, reads nothing, and changes no pin.
Exits with 1 when the server does not give one of these lists. An API (type OpenAPI) is not asked: its resource has its
tools.

  SERVER               <namespace>/<name> of an MCPServer that a Workload reaches, or its name where that is enough
  --config DIR         Folder of resources (default: GW_CONFIG_DIR)
  --secrets-dir DIR    Folder with <name>/<key> files, for secrets that are not resources
  --json               Writes one JSON object per line
`;

/** Where resources are when the command line does not say. */
export interface ProbeDefaults {
  readonly configDir: string | undefined;
  readonly usdToEur: string;
}

/** Asks a server for its tools. Resolves with the exit status; rejects with UsageError. */
export async function mcpProbe(
  args: readonly string[],
  defaults: ProbeDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      config: { type: 'string' },
      'secrets-dir': { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('give one server');
  const dir = values.config ?? defaults.configDir;
  if (dir === undefined) throw new UsageError('give the folder of resources: --config DIR');
  const secretsDir = values['secrets-dir'];
  const { usdToEur } = defaults;
  const loaded = await loadFolder({ dir, usdToEur, ...(secretsDir !== undefined && { secretsDir }) });
  if (!loaded.snapshot) {
    for (const fault of loaded.faults) err(formatFault(fault));
    return 2;
  }
  const server = serverIn(loaded.snapshot, name);
  return withServers(async (servers) => {
    let asked = 'tools';
    try {
      if (server.offer.has('tools')) report(server, 'tools', await servers.list(server, LIST_MS), values.json, out);
      for (const list of probesOf(server)) {
        asked = list.what;
        await list.probe(servers, server, values.json, out);
      }
      return 0;
    } catch (error) {
      if (!isFault(error)) throw error;
      err(`${server.id} at ${server.url} does not list its ${asked}: ${whyOf(error)}`);
      return 1;
    }
  });
}

function serverIn({ workloads }: Snapshot, name: string): McpServerConfig {
  const servers = workloads.values().flatMap(({ mcpServers }) => mcpServers.values());
  const all = new Map(servers.map((server) => [server.id, server]));
  const [only, another] = [...all.values()].filter(({ id }) => id === name || id.endsWith(`/${name}`));
  if (!only) {
    const list = all.size === 0 ? 'it has no servers' : `there are ${[...all.keys()].slice(0, 5).join(', ')}`;
    throw new UsageError(`no workload of this folder reaches an MCPServer "${showHidden(name)}": ${list}`);
  }
  if (another) throw new UsageError(`"${name}" is ${only.id} and ${another.id}: name its namespace`);
  return only;
}

async function withServers<T>(ask: (servers: McpServers) => Promise<T>): Promise<T> {
  const transport = createTransport();
  try {
    return await ask(createMcpServers(transport, IMPLEMENTATION));
  } finally {
    await transport.close();
  }
}

/** A list besides that of tools. */
interface Probe {
  readonly what: 'prompts' | 'instructions' | 'resources' | 'templates';
  readonly probe: (servers: McpServers, server: McpServerConfig, json: boolean, out: Output['out']) => Promise<void>;
}

const PROBES: readonly Probe[] = [
  {
    what: 'prompts',
    probe: async (servers, server, ...to) => report(server, 'prompts', await servers.prompts(server, LIST_MS), ...to),
  },
  {
    what: 'instructions',
    probe: async (servers, server, ...to) =>
      report(server, 'instructions', await servers.about(server, LIST_MS), ...to),
  },
  {
    what: 'resources',
    probe: async (servers, server, ...to) =>
      reportResources(server, 'resources', await servers.resources(server, LIST_MS), ...to),
  },
  {
    what: 'templates',
    probe: async (servers, server, ...to) =>
      reportResources(server, 'templates', await servers.templates(server, LIST_MS), ...to),
  },
];

/** Those that its resource offers. */
function probesOf({ offer }: McpServerConfig): readonly Probe[] {
  return PROBES.filter(({ what }) => offer.has(what === 'templates' ? 'resources' : what));
}

const SINGULAR = { tools: 'tool', prompts: 'prompt', instructions: 'instructions' } as const;

function report(
  { id, url, api }: McpServerConfig,
  list: keyof typeof SINGULAR,
  { tools, leftOut, version }: ToolListing,
  json: boolean,
  out: Output['out'],
): void {
  const { read, unfit } = readDefinitions(tools);
  const told = api ? 'is described by its resource, and was not asked' : `speaks ${version}`;
  if (!json) out(list === 'tools' ? `${id} at ${url} ${told}` : `${list}:`);
  const width = Math.max(0, ...read.map(({ name }) => name.length));
  for (const { name, sha256, hidden } of read) {
    const seen = hidden === 0 ? '' : `  characters that cannot be seen: ${hidden}`;
    out(
      json
        ? JSON.stringify({ server: id, version, [SINGULAR[list]]: name, sha256, hidden })
        : `${name.padEnd(width)}  ${sha256}${seen}`,
    );
  }
  if (json) return;
  for (const { name, why } of unfit) out(`${showHidden(name).padEnd(width)}  is not offered: ${why}`);
  if (leftOut > 0) out(`${list} left out, since their definitions break the protocol: ${leftOut}`);
}

function reportResources(
  { id }: McpServerConfig,
  list: 'resources' | 'templates',
  { resources, leftOut, isCut, version }: ResourceListing,
  json: boolean,
  out: Output['out'],
): void {
  if (!json) out(`${list}:`);
  for (const { uri } of resources)
    out(
      json
        ? JSON.stringify({ server: id, version, [list === 'resources' ? 'resource' : 'template']: uri })
        : showHidden(uri),
    );
  if (json) return;
  if (leftOut > 0) out(`${list} left out, since their entries break the protocol or have unusable URIs: ${leftOut}`);
  if (isCut) out(`there are more: the gateway lists ${resources.length} of them`);
}

const FAULTS: Readonly<Record<UpstreamFaultKind, string>> = {
  timeout: `it did not answer within ${LIST_MS / 1000} seconds`,
  connect: 'the connection failed; check spec.endpoint.url and that the server runs',
  reset: 'it closed the connection',
  protocol: 'its answer breaks the protocol',
  too_large: 'its answer is too large',
  aborted: 'the request was cancelled',
};

const TOKEN_FAULTS: Readonly<Record<McpTokenFaultKind, string>> = {
  refused: 'refuses the client; check spec.auth',
  not_exchanged: 'exchanges no token',
  unreachable: 'cannot be reached or fails',
  busy: 'is asked for too many users at once',
  timeout: 'did not answer in time',
  answer: 'gave no access token of type Bearer',
};

type ListFault = McpServerFault | McpTokenFault | UpstreamFault;

function isFault(error: unknown): error is ListFault {
  return error instanceof McpServerFault || error instanceof McpTokenFault || error instanceof UpstreamFault;
}

/** Of a server's own words, nothing is shown. */
function whyOf(error: ListFault): string {
  if (error instanceof McpTokenFault) return `its token endpoint ${TOKEN_FAULTS[error.kind]}`;
  if (error instanceof UpstreamFault) return FAULTS[error.kind];
  const refused = error.status === 401 || error.status === 403;
  return refused ? `status ${error.status}: it refuses the credential` : `status ${error.status}`;
}
