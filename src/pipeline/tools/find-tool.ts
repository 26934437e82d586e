import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import { asGatewayError, GatewayError } from '#/errors/gateway-error.ts';
import type { ToolCallRequest } from '#/call/tool-call.ts';
import { McpTokenFault, type ListedTool } from '#/ports/mcp-servers.ts';
import { BUILT_IN } from '#/route/tools/built-in.ts';
import type { OfferedTools } from './offered-tools.ts';
import { tokenless } from './tokenless.ts';

/** What a request names. */
export interface FoundTool {
  readonly server: McpServerConfig | undefined;
  /** As its server lists it; undefined: it lists none with this name. */
  readonly listed: ListedTool | undefined;
  readonly quarantined: boolean;
  /** SHA-256 of its definition; undefined: it has no canonical form, or there is no tool. */
  readonly pin: string | undefined;
  /** Why it cannot be called, whatever policy says. */
  readonly fault: GatewayError | undefined;
}

/** Finds the tool that a request names, in the list of its server or, by its federated name, in those of all. */
export async function findTool(
  { server: name, tool, key: { workload } }: ToolCallRequest,
  offered: OfferedTools,
): Promise<FoundTool> {
  if (name === BUILT_IN) return without(unknownTool());
  return findNamed({ server: name, name: tool, workload }, offered, unknownTool);
}

/** Finds a tool or a prompt by its name. `unknown`: the failure of one that is not there. */
export async function findNamed(
  { server: place, name, workload }: { readonly server: string | undefined; name: string; workload: WorkloadConfig },
  offered: OfferedTools,
  unknown: () => GatewayError,
): Promise<FoundTool> {
  let server: McpServerConfig | undefined;
  try {
    let own = name;
    if (place === undefined) {
      const { byName, unavailable } = await offered.of([...workload.mcpServers.values()], workload);
      const named = byName.get(name) ?? (await offered.hidden(name, workload));
      if (!named) return without(unavailable.length > 0 ? someUnavailable(unavailable) : unknown());
      server = named.server;
      own = named.listed.name;
    } else server = workload.mcpServers.get(place);
    if (!server) return without(unknownServer());
    const { isKnown, ...found } = await offered.find(server, own, workload);
    const fault = found.listed ? undefined : isKnown ? unknown() : unlisted(server, offered.faultOf(server));
    return { server, ...found, fault };
  } catch (thrown) {
    return { ...without(asGatewayError(thrown)), server };
  }
}

function without(fault: GatewayError): FoundTool {
  return { server: undefined, listed: undefined, quarantined: false, pin: undefined, fault };
}

/** The refusal of a server that is not there, or is not this workload's. */
export function unknownServer(): GatewayError {
  const message = 'There is no MCP server with this name, or this workload may not use it.';
  return new GatewayError('not_found', message);
}

export function unknownTool(): GatewayError {
  return new GatewayError('tool_not_found', 'There is no tool with this name.', { param: 'params.name' });
}

/** The failure of a server that does not list its tools. */
export function unlisted({ name }: Pick<McpServerConfig, 'name'>, why: unknown): GatewayError {
  if (why instanceof McpTokenFault) return tokenless(why, name, []);
  return new GatewayError('upstream_error', `The MCP server ${name} does not answer.`, {
    report: { cause: 'unavailable', attempts: [] },
  });
}

function someUnavailable(names: readonly string[]): GatewayError {
  const message = `There is nothing with this name on the servers that answer. These do not answer: ${names.join(', ')}.`;
  return new GatewayError('upstream_error', message, { report: { cause: 'unavailable', attempts: [] } });
}
