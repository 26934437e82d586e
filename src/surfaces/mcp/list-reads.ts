import type { CallContext } from '#/call/call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import type { OfferedResource } from '#/pipeline/tools/offered-resources.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import type { Era } from '#/wire/mcp/eras.ts';
import { federatedUri } from '#/wire/mcp/resource-uris.ts';
import { definedPage, pageAfter, pageBegin, pagePlace, PAGE, type Page } from './lists.ts';

/** A list to give. */
interface ListQuestion {
  readonly servers: readonly McpServerConfig[];
  /** Several servers are offered together. */
  readonly federated: boolean;
  readonly cursor: Json | undefined;
  readonly era: Era;
  readonly context: Pick<CallContext, 'key' | 'signal'>;
}

/** Lists besides that of tools. */
export type ReadListMethod = 'prompts/list' | 'resources/list' | 'resources/templates/list';

const METHODS: ReadonlySet<string> = new Set<ReadListMethod>([
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

export function isReadList(method: string): method is ReadListMethod {
  return METHODS.has(method);
}

/** One page of such a list. Throws `RpcFault` for a cursor. */
export function readPage(method: ReadListMethod, question: ListQuestion, pipeline: Listing): Promise<Page> {
  if (method === 'prompts/list') return promptPage(question, pipeline);
  return resourcePage(method === 'resources/list' ? 'resources' : 'templates', question, pipeline);
}

type Listing = Pick<Pipeline, 'listed' | 'offerResources' | 'lookThroughList'>;

/** One page of prompts. Fails, rather than send an empty list, where no server answers. */
async function promptPage(
  { servers, federated, cursor, era, context }: ListQuestion,
  { listed }: Listing,
): Promise<Page> {
  const asked = servers.filter(({ offer }) => offer.has('prompts'));
  const offer = await listed.prompts.of(asked, context.key.workload);
  refuseUnanswered(offer.unavailable, asked.length);
  return definedPage('prompts', { ...offer, sources: asked.length }, { federated, cursor, era });
}

/** One page of resources or of templates. Fails likewise. */
async function resourcePage(
  kind: 'resources' | 'templates',
  { servers, federated, cursor, era, context }: ListQuestion,
  pipeline: Listing,
): Promise<Page> {
  const address = kind === 'resources' ? 'uri' : 'uriTemplate';
  const { resources, unavailable, cut, sources } = await pipeline.offerResources(kind, servers, context.key.workload);
  refuseUnanswered(unavailable, sources);
  const uriOf = ({ server, listed }: OfferedResource): string =>
    federated ? federatedUri(server.prefix, listed.uri) : listed.uri;
  const place = pagePlace(cursor);
  const from = pageAfter(resources.map(uriOf), place);
  const some = resources.slice(from, from + PAGE);
  const entries = some.map((one): JsonObject => {
    const { server, listed } = one;
    if (!federated) return listed.definition;
    const _meta = { 'gatewarden.dev/resource': { server: server.name, uri: listed.uri } };
    return { ...listed.definition, [address]: uriOf(one), _meta };
  });
  const meta = {
    ...(unavailable.length > 0 && { 'gatewarden.dev/unavailable': unavailable }),
    ...(cut.length > 0 && { 'gatewarden.dev/cut': cut }),
  };
  const shown = await pipeline.lookThroughList(entries, address, context);
  // What policy left out is not named by the cursor either.
  const last = shown.at(-1)?.[address];
  const seen = typeof last === 'string' ? some.findIndex((one) => uriOf(one) === last) : -1;
  const next =
    seen < 0
      ? { after: place.after, skip: place.skip + some.length }
      : { after: uriOf(some[seen]!), skip: some.length - seen - 1 };
  const result = {
    ...pageBegin(era, from + PAGE < resources.length ? next : undefined),
    [kind === 'resources' ? 'resources' : 'resourceTemplates']: shown,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
  return { text: JSON.stringify(result), unavailable };
}

function refuseUnanswered(unavailable: readonly string[], asked: number): void {
  if (asked === 0 || unavailable.length < asked) return;
  const message = `No MCP server answers: ${unavailable.join(', ')}.`;
  throw new GatewayError('upstream_overloaded', message, { retryAfterMs: 5000 });
}
