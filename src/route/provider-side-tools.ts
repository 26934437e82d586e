import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Codec } from '#/wire/hub/codec.ts';
import type { Family, WireDocument } from '#/wire/document/document.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { toolServersIn, toolServerSteps, type ToolServers } from '#/wire/request/tool-servers.ts';
import type { CallContext } from '#/call/call.ts';

/** Families whose requests can name servers of tools; in any other a server is a mistake or an attempt. */
const WITH_TOOLS: ReadonlySet<Family> = new Set<Family>(['chat', 'messages', 'responses']);

/** Families in which the gateway runs tools of servers that a request names. */
const LOOPING: ReadonlySet<Family> = new Set<Family>(['chat', 'responses']);

/**
 * The servers of tools that a request would have its provider call. Throws `invalid_request` unless policy lets providers
 * call them; whose account it is, is asked when the provider is known. // spec 4.5.3
 */
export function permittedToolServers(document: WireDocument, key: VirtualKeyConfig): ToolServers | undefined {
  const servers = toolServersIn(document);
  return servers && permitted(servers, document, key);
}

/** As `permittedToolServers`, in steps. */
export function* permittedToolServerSteps(
  document: WireDocument,
  key: VirtualKeyConfig,
): Steps<ToolServers | undefined> {
  const servers = yield* toolServerSteps(document);
  return servers && permitted(servers, document, key);
}

/** The servers that a request names, as they are. Throws as `permittedToolServers` does. */
export function permitted(servers: ToolServers, document: WireDocument, key: VirtualKeyConfig): ToolServers {
  if (key.workload.policy.providerSideTools.has('mcp') && WITH_TOOLS.has(document.family)) return servers;
  const { param } = servers;
  const how = LOOPING.has(document.family) ? ', and name it in server_label or' : ' and';
  const message = `${param} is not supported: register the server as an MCPServer${how} call it through /v1/mcp`;
  throw new GatewayError('invalid_request', message, { param });
}

/** Headers without the flags that ask a provider for what policy does not let it do. */
export function withoutToolServerFlags(headers: CallContext['headers']): CallContext['headers'] {
  const flags = headers['anthropic-beta'];
  if (flags === undefined || !/mcp/i.test(String(flags))) return headers;
  const kept = [flags]
    .flat()
    .flatMap((line) => line.split(','))
    .filter((flag) => !/^\s*mcp/i.test(flag))
    .join(',');
  const { 'anthropic-beta': _, ...rest } = headers;
  return kept === '' ? rest : { ...rest, 'anthropic-beta': kept };
}

/** What inspection looks at: all but what the caller identifies itself with to servers that policy lets it name. */
export function contentsBeside<C extends Pick<Codec, 'contents'>>(codec: C, servers: ToolServers): C {
  if (servers.credentials.size === 0) return codec;
  const credentials: ReadonlySet<unknown> = servers.credentials;
  const contents: Codec['contents'] = (document) => {
    const found = codec.contents(document);
    return { ...found, leaves: found.leaves.filter(({ node }) => !credentials.has(node)) };
  };
  return { ...codec, contents };
}
