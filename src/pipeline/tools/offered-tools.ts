import { LRUCache } from 'lru-cache';
import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { PinKeeper, PinnedTools } from '#/dispatch/tools/pin-keeper.ts';
import type { ListedTool, ToolListing } from '#/ports/mcp-servers.ts';
import { readDefinitions } from '#/route/tools/definitions.ts';
import { federatedName } from '#/wire/mcp/names.ts';
import type { OfferKind } from './offer-kinds.ts';
import type { Fetched, ServerLists } from './server-lists.ts';

type FetchedList = Fetched<ToolListing>;

/** A tool that a workload may call. */
export interface OfferedTool {
  readonly server: McpServerConfig;
  readonly listed: ListedTool;
  /** What clients of `/v1/mcp` call it. */
  readonly federated: string;
}

/** What a workload is offered. */
export interface Offer {
  /** By prefix of the server, then in the server's order. */
  readonly tools: readonly OfferedTool[];
  /** The same by their federated names. */
  readonly byName: ReadonlyMap<string, OfferedTool>;
  /** Names of servers whose list is not known now. */
  readonly unavailable: readonly string[];
}

/** What a list is to one organization. */
interface Judged {
  readonly list: FetchedList;
  /** In the server's order: those whose definition was read, so that a call can say which one it means. */
  readonly byName: ReadonlyMap<string, ListedTool>;
  /** Names of tools whose definition is accepted. */
  readonly accepted: ReadonlySet<string>;
  /** By name: SHA-256 of the definition. */
  readonly pins: ReadonlyMap<string, string>;
}

/** A list as it was decided on, with the resource of that time. */
interface Decided {
  readonly server: McpServerConfig;
  readonly judged: Promise<Judged>;
}

/** What a workload was offered last, and of which lists. */
interface KnownOffer {
  readonly workload: WorkloadConfig;
  readonly servers: readonly McpServerConfig[];
  readonly lists: readonly (Judged | undefined)[];
  readonly offer: Offer;
}

/** One tool of a server. */
interface NamedTool {
  /** Undefined: the server lists none with this name, or cannot be asked (`isKnown` false). */
  readonly listed: ListedTool | undefined;
  readonly isKnown: boolean;
  /** Its definition is not accepted. */
  readonly quarantined: boolean;
  /** SHA-256 of its definition. */
  readonly pin: string | undefined;
}

/** Offers that are kept: as many, and of lists of as many bytes as they came in. */
const MOST_OFFERS = 4096;
const MOST_BYTES = 32 * 1024 * 1024;

/** The tools of servers as workloads may see them; or their prompts, or their instructions. */
export class OfferedTools {
  readonly #kind: OfferKind;
  readonly #lists: Pick<ServerLists<ToolListing>, 'of' | 'renewed' | 'faultOf'>;
  readonly #pins: Pick<PinKeeper, 'decide'>;
  readonly #judged = new WeakMap<FetchedList, Map<string, Decided>>();
  /** By id of the workload. */
  readonly #offers = new LRUCache<string, KnownOffer>({
    max: MOST_OFFERS,
    maxSize: MOST_BYTES,
    sizeCalculation: ({ lists }) => lists.reduce((sum, one) => sum + (one?.list.bytes ?? 0), 1),
  });

  constructor(
    kind: OfferKind,
    lists: Pick<ServerLists<ToolListing>, 'of' | 'renewed' | 'faultOf'>,
    pins: Pick<PinKeeper, 'decide'>,
  ) {
    this.#kind = kind;
    this.#lists = lists;
    this.#pins = pins;
  }

  /** All tools of these servers that policy lets a workload call. The servers are asked at once. */
  async of(servers: readonly McpServerConfig[], workload: WorkloadConfig): Promise<Offer> {
    const sorted = this.#offering(servers).toSorted((a, b) => (a.prefix < b.prefix ? -1 : 1));
    const lists = await Promise.all(sorted.map((server) => this.#of(server, workload, false)));
    const known = this.#offers.get(workload.id);
    const isSame = <T>(some: readonly T[], others: readonly T[]): boolean =>
      some.length === others.length && some.every((one, at) => one === others[at]);
    const isKnown = known?.workload === workload && isSame(known.lists, lists) && isSame(known.servers, sorted);
    if (isKnown) return known.offer;
    const offer = offerOf(sorted, lists, workload, this.#kind);
    if (sorted.length === this.#offering([...workload.mcpServers.values()]).length)
      this.#offers.set(workload.id, { workload, servers: sorted, lists, offer });
    return offer;
  }

  /**
   * A tool with a federated name that no offer has: one that policy keeps from the workload, so that its call is refused by
   * name, or one that its server lists only now.
   */
  async hidden(federated: string, workload: WorkloadConfig): Promise<Omit<OfferedTool, 'federated'> | undefined> {
    for (const server of this.#offering([...workload.mcpServers.values()])) {
      const named = (judged: Judged | undefined): ListedTool | undefined =>
        judged?.byName.values().find(({ name }) => federatedName(server.prefix, name) === federated);
      const judged = await this.#of(server, workload, false);
      const isMeant = judged !== undefined && federated.startsWith(`${server.prefix}__`);
      const listed = named(judged) ?? (isMeant ? named(await this.#of(server, workload, true)) : undefined);
      if (listed) return { server, listed };
    }
    return undefined;
  }

  /**
   * One tool of a server, whatever policy says of it. A list without it, or with a definition that is not accepted, is
   * fetched again: both may have changed since.
   */
  async find(server: McpServerConfig, tool: string, workload: WorkloadConfig): Promise<NamedTool> {
    if (!server.offer.has(this.#kind.feature))
      return { listed: undefined, isKnown: true, quarantined: false, pin: undefined };
    let judged = await this.#of(server, workload, false);
    if (judged && !judged.accepted.has(tool)) judged = await this.#of(server, workload, true);
    const listed = judged?.byName.get(tool);
    const quarantined = listed !== undefined && judged?.accepted.has(tool) !== true;
    return { listed, isKnown: judged !== undefined, quarantined, pin: judged?.pins.get(tool) };
  }

  /** A server says that its list has changed. Never rejects. */
  async changed(server: McpServerConfig): Promise<void> {
    await this.#lists.renewed(server);
  }

  /** Why the list of a server is not known. */
  faultOf(server: McpServerConfig): unknown {
    return this.#lists.faultOf(server);
  }

  /** Those that clients may use for it. */
  #offering(servers: readonly McpServerConfig[]): readonly McpServerConfig[] {
    return servers.filter(({ offer }) => offer.has(this.#kind.feature));
  }

  async #of(server: McpServerConfig, workload: WorkloadConfig, anew: boolean): Promise<Judged | undefined> {
    const list = await (anew ? this.#lists.renewed(server) : this.#lists.of(server));
    return list && this.#judge(server, workload.organization.id, list);
  }

  /** Which of a list's definitions are accepted: decided once for each organization, and again for other resources. */
  #judge(server: McpServerConfig, organization: string, list: FetchedList): Promise<Judged> {
    let byOrganization = this.#judged.get(list);
    if (!byOrganization) this.#judged.set(list, (byOrganization = new Map<string, Decided>()));
    const known = byOrganization.get(organization);
    const { definitions } = this.#kind;
    if (known && definitions(known.server) === definitions(server)) return known.judged;
    const judged = this.#decide(server, organization, list);
    byOrganization.set(organization, { server, judged });
    return judged;
  }

  async #decide(server: McpServerConfig, organization: string, list: FetchedList): Promise<Judged> {
    const of = { organization, server: this.#kind.pinnedAs(server) };
    const { offered, pins } = server.api
      ? ownDefinitions(list.tools)
      : await this.#pins.decide(of, this.#kind.definitions(server), list.tools);
    return {
      list,
      byName: new Map(list.tools.filter(({ name }) => pins.has(name)).map((tool) => [tool.name, tool])),
      accepted: new Set(offered.map(({ name }) => name)),
      pins,
    };
  }
}

/** Definitions that the resource itself has: who wrote it has accepted them, and each is its own pin. */
function ownDefinitions(tools: readonly ListedTool[]): Pick<PinnedTools, 'offered' | 'pins'> {
  const { read } = readDefinitions(tools);
  return { offered: read, pins: new Map(read.map(({ name, sha256 }) => [name, sha256])) };
}

/** What policy lets a workload see of these lists, each undefined where it is not known. */
function offerOf(
  servers: readonly McpServerConfig[],
  lists: readonly (Judged | undefined)[],
  workload: WorkloadConfig,
  { denial }: OfferKind,
): Offer {
  const tools: OfferedTool[] = [];
  const unavailable: string[] = [];
  const byName = new Map<string, OfferedTool>();
  for (const [index, server] of servers.entries()) {
    const judged = lists[index];
    if (!judged) {
      unavailable.push(server.name);
      continue;
    }
    for (const listed of judged.byName.values()) {
      if (!judged.accepted.has(listed.name)) continue;
      if (denial(server, listed.name, workload.policy, listed.definition)) continue;
      const federated = federatedName(server.prefix, listed.name);
      if (byName.has(federated)) continue;
      const tool = { server, listed, federated };
      byName.set(federated, tool);
      tools.push(tool);
    }
  }
  return { tools, byName, unavailable };
}
