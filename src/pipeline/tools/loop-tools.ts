import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { BUILT_IN } from '#/route/tools/built-in.ts';
import { isObject } from '#/wire/document/json.ts';
import type { LoopTool } from '#/wire/hub/tool-loop/loop-codec.ts';
import type { NamedServer } from '#/wire/hub/tool-loop/named-servers.ts';
import type { ListedOffer, OfferedName } from './built-in/offer-built-in.ts';

/** More tools than this no vendor takes. */
const MOST_TOOLS = 128;

/** What servers offer. */
export interface Offering {
  /** `own`: with the tools of the gateway itself. */
  offerTools(servers: readonly McpServerConfig[], workload: WorkloadConfig, own: boolean): Promise<ListedOffer>;
  /** Why a server's list is not known. */
  whyUnlisted(server: McpServerConfig): GatewayError;
}

/**
 * The tools that a request names and its workload may call. Throws `invalid_request` for a server that is not there or
 * not this workload's, and where nothing of one is left; `upstream_error` for one that does not list its tools.
 */
export async function offerTools(
  named: readonly NamedServer[],
  workload: WorkloadConfig,
  offering: Offering,
): Promise<readonly LoopTool[]> {
  if (named.length === 0) return [];
  const own = named.some(({ label }) => label === BUILT_IN);
  const servers = named
    .filter(({ label }) => label !== BUILT_IN)
    .map(({ label, param }) => workload.mcpServers.get(label) ?? refuseServer(param));
  const { tools, unavailable } = await offering.offerTools(servers, workload, own);
  if (unavailable.includes(BUILT_IN)) {
    const message = 'The inference engine of the gateway, which its own tools need, does not answer.';
    throw new GatewayError('local_model_unavailable', message);
  }
  const missing = servers.find(({ name }) => unavailable.includes(name));
  if (missing) throw offering.whyUnlisted(missing);
  const offered = named.flatMap((one) => toolsOf(one, tools));
  if (offered.length <= MOST_TOOLS) return offered;
  const message = `The MCP servers offer ${offered.length} tools, and models take at most ${MOST_TOOLS}: choose with allowed_tools.`;
  throw new GatewayError('invalid_request', message, { param: 'tools' });
}

function refuseServer(param: string): never {
  const message = `${param}.server_label must be the name of an MCPServer that this workload may use.`;
  throw new GatewayError('invalid_request', message, { param: `${param}.server_label` });
}

/** A model that is silently offered nothing makes results up: better refused. */
function toolsOf({ param, label, allowed, asksClient }: NamedServer, tools: readonly OfferedName[]) {
  const offered = tools.filter(({ server, listed }) => server.name === label && allowed?.has(listed.name) !== false);
  if (offered.length > 0) return offered.map((tool) => loopTool(tool, asksClient(tool.listed.name)));
  const message = `${param} names no tool that this workload may call: list them with tools/list at /v1/mcp/${label}.`;
  throw new GatewayError('invalid_request', message, { param });
}

function loopTool({ server, listed, federated }: OfferedName, asksClient: boolean): LoopTool {
  const { description, annotations, inputSchema } = listed.definition;
  return {
    alias: federated,
    server: server.name,
    name: listed.name,
    description: typeof description === 'string' ? description : undefined,
    inputSchema: isObject(inputSchema) ? inputSchema : { type: 'object' },
    annotations: isObject(annotations) ? annotations : undefined,
    asksClient,
  };
}
