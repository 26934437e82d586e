import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { ServerReadRequest } from '#/call/server-read.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { protection } from '#/inspect/refusals.ts';
import { inspectGiven, type InspectParts } from './inspect-given.ts';
import type { ToolParts } from './tool-parts.ts';

/**
 * Finds what must not leave in the address of a resource. An address with a tag or a mask in it would be another one, so that
 * it is refused; but for one that the server itself lists, which tells it nothing. Throws `data_protection`.
 */
export async function inspectUri(
  uri: string,
  request: ServerReadRequest,
  server: McpServerConfig,
  parts: InspectParts & { readonly tools: Pick<ToolParts, 'lists'> },
): Promise<CallFacts> {
  const value = { uri };
  try {
    const { inspection, facts } = await inspectGiven({ source: JSON.stringify(value), value }, request, server, parts);
    if (inspection.edits.length === 0) return facts;
    throw new Stopped(protection('the URI has personal data, and the server does not list it', ['params.uri']), facts);
  } catch (thrown) {
    if (!(thrown instanceof Stopped) || !isProtection(thrown.cause)) throw thrown;
    if (!(await isListed(uri, server, parts))) throw thrown;
    return { ...thrown.facts, findings: {} };
  }
}

function isProtection(cause: unknown): boolean {
  return cause instanceof GatewayError && cause.code === 'data_protection';
}

async function isListed(
  uri: string,
  server: McpServerConfig,
  { tools }: { readonly tools: Pick<ToolParts, 'lists'> },
): Promise<boolean> {
  const list = await tools.lists.resources.of(server);
  return list?.resources.some((one) => one.uri === uri) === true;
}
