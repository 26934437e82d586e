import type { ReadOf, ServerReadRequest } from '#/call/server-read.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { asGatewayError, GatewayError } from '#/errors/gateway-error.ts';
import { isObject, type Json } from '#/wire/document/json.ts';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import { readFederatedUri, uriFault } from '#/wire/mcp/resource-uris.ts';
import { findNamed, unknownServer, unlisted } from './find-tool.ts';
import type { ToolParts } from './tool-parts.ts';

/** What a request to read names. */
export interface FoundRead {
  readonly server: McpServerConfig | undefined;
  /** The server's own name of the prompt, or its own address of the resource; empty: it is not known. */
  readonly own: string;
  /** What rows call it: nothing that only a client says. */
  readonly id: string;
  /** SHA-256 of the prompt's definition. */
  readonly pin: string | undefined;
  readonly quarantined: boolean;
  /** Why it cannot be read, whatever policy says. */
  readonly fault: GatewayError | undefined;
}

type Finding = Pick<ToolParts, 'prompts' | 'lists'>;

/** Finds the prompt or the resource that a request names. */
export async function findRead(request: ServerReadRequest, parts: Finding): Promise<FoundRead> {
  const { of, method, completes } = request;
  if (of.kind === 'prompts') return findPrompt(request, of.name, parts);
  const found = findResource(request, of.uri);
  const { server, own } = found;
  if (method !== 'completion/complete' || !server || found.fault) return found;
  const fault = incompletable(server, of) ?? (await unknownTemplate(server, own, completes, parts));
  return { ...found, fault };
}

async function findPrompt(
  { server: place, method, of, completes, key: { workload } }: ServerReadRequest,
  name: string,
  { prompts }: Finding,
): Promise<FoundRead> {
  const { listed, ...found } = await findNamed({ server: place, name, workload }, prompts, unknownPrompt);
  const { server } = found;
  const isGiven = method === 'prompts/get';
  const id = isGiven ? (listed ? `prompts/${listed.name}` : 'prompts') : method;
  const fault =
    found.fault ??
    (isGiven || !server
      ? undefined
      : (incompletable(server, of) ?? (listed && takes(listed, completes) ? undefined : noArgument())));
  return { ...found, own: listed?.name ?? '', id, fault };
}

function findResource({ server: place, method, key: { workload } }: ServerReadRequest, uri: string): FoundRead {
  const id = 'resources/read';
  const without = (fault: GatewayError, server?: McpServerConfig): FoundRead => ({
    ...{ server, own: '', id, pin: undefined, quarantined: false, fault },
  });
  const named = place === undefined ? readFederatedUri(uri) : { prefix: undefined, uri };
  if (!named) return without(unknownResource());
  const server =
    place === undefined
      ? workload.mcpServers.values().find(({ prefix }) => prefix === named.prefix)
      : workload.mcpServers.get(place);
  if (!server) return without(place === undefined ? unknownResource() : unknownServer());
  const why = uriFault(named.uri, method === 'completion/complete' ? 'template' : 'resource');
  if (why !== undefined)
    return without(new GatewayError('invalid_request', `The URI ${why}.`, { param: 'params.uri' }), server);
  return { server, own: named.uri, id, pin: undefined, quarantined: false, fault: undefined };
}

/** A template that its server does not list is the client's own word: nothing of it leaves. */
async function unknownTemplate(
  server: McpServerConfig,
  own: string,
  completes: string | undefined,
  { lists }: Finding,
): Promise<GatewayError | undefined> {
  try {
    const list = await lists.templates.of(server);
    if (!list) return unlisted(server, lists.templates.faultOf(server));
    if (!list.resources.some(({ uri }) => uri === own)) return unknownResource();
    return completes !== undefined && variablesOf(own).has(completes) ? undefined : noArgument();
  } catch (thrown) {
    return asGatewayError(thrown);
  }
}

/** The names between braces of a template. // RFC 6570 */
function variablesOf(template: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const part of template.split('{').slice(1)) {
    const [expression = ''] = part.split('}', 1);
    for (const name of expression.replace(/^[+#./;?&]/, '').split(',')) names.add(name.replace(/(?:\*|:\d{1,4})$/, ''));
  }
  return names;
}

function takes({ definition }: ListedTool, name: string | undefined): boolean {
  const declared: Json | undefined = definition['arguments'];
  const named = (one: Json): boolean => isObject(one) && one['name'] === name;
  return name !== undefined && Array.isArray(declared) && (declared as readonly Json[]).some(named);
}

function incompletable({ offer, id }: McpServerConfig, { kind }: ReadOf): GatewayError | undefined {
  if (offer.has('completions')) return undefined;
  const code = kind === 'prompts' ? 'prompt_not_found' : 'resource_not_found';
  return new GatewayError(code, `MCPServer ${id} does not offer completions.`, { param: 'params.ref' });
}

function noArgument(): GatewayError {
  const message = 'params.argument.name must be an argument of the prompt or of the template.';
  return new GatewayError('invalid_request', message, { param: 'params.argument.name' });
}

function unknownPrompt(): GatewayError {
  return new GatewayError('prompt_not_found', 'There is no prompt with this name.', { param: 'params.name' });
}

function unknownResource(): GatewayError {
  return new GatewayError('resource_not_found', 'There is no resource with this URI.', { param: 'params.uri' });
}
