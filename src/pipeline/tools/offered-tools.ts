import { hash } from 'node:crypto';
import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import { toolDenial } from '#/route/tools.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { federatedName } from '#/wire/mcp/names.ts';
import type { FetchedList, ToolLists } from './tool-lists.ts';

/** Which definitions of a freshly fetched list may be offered. */
export interface DefinitionGate {
  /** The state of each tool, by name; a tool that is not in it may be offered. */
  judge(
    of: { readonly organization: string; readonly server: McpServerConfig },
    tools: readonly Pick<ListedTool, 'name' | 'definition'>[],
  ): Promise<ReadonlyMap<string, 'accepted' | 'quarantined'>>;
}

/** Every definition may be offered; rows tell its digest. */
export const RECORD: DefinitionGate = { judge: async () => new Map() };

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
  /** Names of servers whose list is not known now. */
  readonly unavailable: readonly string[];
}

/** What a list is to one organization. */
interface Judged {
  readonly list: FetchedList;
  readonly byName: ReadonlyMap<string, ListedTool>;
  readonly states: ReadonlyMap<string, 'accepted' | 'quarantined'>;
}

/** The tools of servers as workloads may see them. */
export class OfferedTools {
  readonly #lists: ToolLists;
  readonly #gate: DefinitionGate;
  readonly #judged = new WeakMap<FetchedList, Map<string, Promise<Judged>>>();

  constructor(lists: ToolLists, gate: DefinitionGate) {
    this.#lists = lists;
    this.#gate = gate;
  }

  /** All tools of these servers that policy lets a workload call. The servers are asked at once. */
  async of(servers: readonly McpServerConfig[], workload: WorkloadConfig): Promise<Offer> {
    const sorted = servers.toSorted((a, b) => (a.prefix < b.prefix ? -1 : 1));
    const lists = await Promise.all(sorted.map((server) => this.#of(server, workload, false)));
    const tools: OfferedTool[] = [];
    const unavailable: string[] = [];
    const names = new Set<string>();
    for (const [index, server] of sorted.entries()) {
      const judged = lists[index];
      if (!judged) {
        unavailable.push(server.name);
        continue;
      }
      for (const listed of judged.list.tools) {
        if (judged.states.get(listed.name) === 'quarantined') continue;
        if (toolDenial(server, listed.name, workload.policy)) continue;
        const federated = federatedName(server.prefix, listed.name);
        if (names.has(federated)) continue;
        names.add(federated);
        tools.push({ server, listed, federated });
      }
    }
    return { tools, unavailable };
  }

  /** A tool that has a federated name, though policy keeps it from the workload: its call is refused by name. */
  async hidden(federated: string, workload: WorkloadConfig): Promise<Omit<OfferedTool, 'federated'> | undefined> {
    for (const server of workload.mcpServers.values()) {
      const judged = await this.#of(server, workload, false);
      const listed = judged?.list.tools.find(({ name }) => federatedName(server.prefix, name) === federated);
      if (listed) return { server, listed };
    }
    return undefined;
  }

  /**
   * One tool of a server, whatever policy says of it; undefined: the server lists none with this name, or cannot be asked
   * (`isKnown` false). A list without it is fetched anew.
   */
  async find(
    server: McpServerConfig,
    tool: string,
    workload: WorkloadConfig,
  ): Promise<{ readonly listed: ListedTool | undefined; readonly isKnown: boolean; readonly quarantined: boolean }> {
    let judged = await this.#of(server, workload, false);
    if (judged && !judged.byName.has(tool)) judged = await this.#of(server, workload, true);
    const quarantined = judged?.states.get(tool) === 'quarantined';
    return { listed: judged?.byName.get(tool), isKnown: judged !== undefined, quarantined };
  }

  async #of(server: McpServerConfig, workload: WorkloadConfig, anew: boolean): Promise<Judged | undefined> {
    const list = await (anew ? this.#lists.renewed(server) : this.#lists.of(server));
    return list && this.#judge(server, workload.organization.id, list);
  }

  /** What the gate says of a list, asked once for each organization. */
  #judge(server: McpServerConfig, organization: string, list: FetchedList): Promise<Judged> {
    let byOrganization = this.#judged.get(list);
    if (!byOrganization) this.#judged.set(list, (byOrganization = new Map()));
    let judged = byOrganization.get(organization);
    if (!judged) {
      judged = this.#gate.judge({ organization, server }, list.tools).then((states) => {
        return { list, states, byName: new Map(list.tools.map((tool) => [tool.name, tool])) };
      });
      // A gate that cannot be asked now is asked again.
      judged.catch(() => byOrganization.delete(organization));
      byOrganization.set(organization, judged);
    }
    return judged;
  }
}

const DIGESTS = new WeakMap<ListedTool, string>();

/** SHA-256 of a definition as canonical JSON without its `_meta`. */
export function definitionDigest(tool: ListedTool): string {
  let digest = DIGESTS.get(tool);
  if (digest === undefined) {
    const { _meta: _, ...told } = tool.definition;
    DIGESTS.set(tool, (digest = hash('sha256', canonicalJson(told), 'hex')));
  }
  return digest;
}
