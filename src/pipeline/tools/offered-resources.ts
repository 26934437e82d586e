import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { ListedResource, ResourceListing } from '#/ports/mcp-servers.ts';
import { readDenial } from '#/route/tools/reads.ts';
import type { Lists } from './list-kinds.ts';

/** A resource, or a template, that a workload may read. */
export interface OfferedResource {
  readonly server: McpServerConfig;
  readonly listed: ListedResource;
}

/** What a workload is offered of the resources of some servers. */
export interface ResourceOffer {
  /** By prefix of the server, then in the server's order. */
  readonly resources: readonly OfferedResource[];
  /** Names of servers whose list is not known now. */
  readonly unavailable: readonly string[];
  /** Names of servers that have more of them than the gateway looks at. */
  readonly cut: readonly string[];
  /** How many servers were asked. */
  readonly sources: number;
}

/** All resources, or all templates, of these servers that policy lets a workload read. The servers are asked at once. */
export async function offeredResources(
  kind: 'resources' | 'templates',
  servers: readonly McpServerConfig[],
  { policy }: WorkloadConfig,
  lists: Pick<Lists, 'resources' | 'templates'>,
): Promise<ResourceOffer> {
  const asked = servers
    .filter(({ offer }) => offer.has('resources'))
    .toSorted((a, b) => (a.prefix < b.prefix ? -1 : 1));
  const found: readonly (ResourceListing | undefined)[] = await Promise.all(
    asked.map((server) => lists[kind].of(server)),
  );
  const resources: OfferedResource[] = [];
  const unavailable: string[] = [];
  const cut: string[] = [];
  for (const [index, server] of asked.entries()) {
    const list = found[index];
    if (!list) unavailable.push(server.name);
    if (list?.isCut) cut.push(server.name);
    for (const listed of list?.resources ?? []) {
      if (!readDenial(server, 'resources', listed.uri, policy)) resources.push({ server, listed });
    }
  }
  return { resources, unavailable, cut, sources: asked.length };
}
