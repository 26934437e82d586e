import { LRUCache } from 'lru-cache';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpServerFault, McpTokenFault } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';

/** What a server lists. */
export interface Listing {
  readonly leftOut: number;
  readonly bytes: number;
  readonly ttlMs: number | undefined;
}

/** A list as it was fetched. */
export type Fetched<L extends Listing> = L & {
  /** By `performance.now()`. */
  readonly fetchedAt: number;
};

/** Kinds of lists. `about`: what a server says of itself. */
type ListKind = 'tools' | 'prompts' | 'resources' | 'templates' | 'about';

/** How long a server may take to tell its list. */
export const LIST_MS = 5000;
/** How long a list is kept where its server does not say; longer than a minute none is. */
const KEPT_MS = 30_000;
const MOST_KEPT_MS = 60_000;
/** A list that has just grown old is used once more while it is renewed. */
const GRACE_MS = 30_000;
/** How long the last list of a server that cannot be asked is used. */
const LAST_MS = 600_000;
/** A server that failed rests this long before it is asked again. */
const REST_MS = 5000;
/** A server is not asked again sooner than this: because a tool was not on its list, or because it says 0. */
const AGAIN_MS = 2000;
const MOST_SERVERS = 1024;

/** The state of one server besides its list. */
interface Known<L extends Listing> {
  fetching: Promise<Fetched<L>> | undefined;
  /** When it was last asked, by `performance.now()`. */
  askedAt: number;
  isFailing: boolean;
  /** Why it failed last. */
  fault?: unknown;
}

/** What happened to a list, for metrics. */
export type ListEvent =
  | {
      readonly kind: 'tools.listed';
      readonly list: ListKind;
      readonly server: string;
      /** How many there are. */
      readonly tools: number;
      readonly leftOut: number;
      readonly durationMs: number;
    }
  /** `isNew`: the server was well before. */
  | {
      readonly kind: 'tools.unlisted';
      readonly list: ListKind;
      readonly server: string;
      readonly why: string;
      readonly isNew: boolean;
      readonly durationMs: number;
    };

/** How a kind of list is fetched and kept. */
export interface ListSource<L extends Listing> {
  readonly kind: ListKind;
  readonly ask: (server: McpServerConfig, timeoutMs: number) => Promise<L>;
  readonly count: (list: L) => number;
  /** All lists together, as they came; in memory they take several times as much. */
  readonly mostBytes: number;
}

/** In a few words, without content. */
function whyOf(error: unknown): string {
  if (error instanceof UpstreamFault) return error.kind;
  if (error instanceof McpTokenFault) return `token ${error.kind}`;
  return error instanceof McpServerFault ? `status ${error.status}` : 'fault';
}

/** Lists of one kind, of all servers that this process has asked for. They are renewed when they are used. */
export class ServerLists<L extends Listing> {
  readonly #source: ListSource<L>;
  readonly #onEvent: (event: ListEvent) => void;
  readonly #known = new LRUCache<string, Known<L>>({ max: MOST_SERVERS });
  readonly #lists: LRUCache<string, Fetched<L>>;

  constructor(source: ListSource<L>, onEvent: (event: ListEvent) => void) {
    this.#source = source;
    this.#onEvent = onEvent;
    this.#lists = new LRUCache({ maxSize: source.mostBytes, sizeCalculation: ({ bytes }) => Math.max(1, bytes) });
  }

  /** The list of a server; undefined: it cannot be asked, and was not for long. */
  async of(server: McpServerConfig): Promise<Fetched<L> | undefined> {
    const known = this.#knownOf(server);
    const list = this.#listOf(server);
    const age = list ? performance.now() - list.fetchedAt : Infinity;
    const keptMs = Math.max(AGAIN_MS, Math.min(list?.ttlMs ?? KEPT_MS, MOST_KEPT_MS));
    if (list && age < keptMs) return list;
    const last = age < LAST_MS ? list : undefined;
    // Calls do not wait for a server that failed when it was last asked.
    if (known.isFailing && performance.now() - known.askedAt < REST_MS) return last;
    const fetching = this.#fetch(server, known);
    if (!known.isFailing && !(list && age < keptMs + GRACE_MS)) return fetching.catch(() => last);
    fetching.catch(() => undefined);
    return last;
  }

  /** Fetches the list again, unless the server was asked just now: for a tool that is not on the last one. */
  async renewed(server: McpServerConfig): Promise<Fetched<L> | undefined> {
    const known = this.#knownOf(server);
    if (!known.fetching && performance.now() - known.askedAt < AGAIN_MS) return this.#listOf(server);
    return this.#fetch(server, known).catch(() => this.#listOf(server));
  }

  /** Why the server did not list its tools when it was last asked; undefined: it did. */
  faultOf(server: McpServerConfig): unknown {
    const { isFailing, fault } = this.#knownOf(server);
    return isFailing ? fault : undefined;
  }

  #knownOf(server: McpServerConfig): Known<L> {
    const identity = serverIdentity(server);
    let known = this.#known.get(identity);
    if (!known) this.#known.set(identity, (known = { fetching: undefined, askedAt: -Infinity, isFailing: false }));
    return known;
  }

  #listOf(server: McpServerConfig): Fetched<L> | undefined {
    return this.#lists.get(serverIdentity(server));
  }

  #fetch(server: McpServerConfig, known: Known<L>): Promise<Fetched<L>> {
    known.fetching ??= this.#ask(server, known).finally(() => {
      known.fetching = undefined;
    });
    return known.fetching;
  }

  async #ask(server: McpServerConfig, known: Known<L>): Promise<Fetched<L>> {
    const askedAt = performance.now();
    known.askedAt = askedAt;
    try {
      const { ask, kind, count } = this.#source;
      const list = { ...(await ask(server, LIST_MS)), fetchedAt: performance.now() };
      this.#lists.set(serverIdentity(server), list);
      known.isFailing = false;
      this.#onEvent({
        kind: 'tools.listed',
        list: kind,
        server: server.id,
        tools: count(list),
        leftOut: list.leftOut,
        durationMs: list.fetchedAt - askedAt,
      });
      return list;
    } catch (error) {
      const durationMs = performance.now() - askedAt;
      this.#onEvent({
        kind: 'tools.unlisted',
        list: this.#source.kind,
        server: server.id,
        why: whyOf(error),
        isNew: !known.isFailing,
        durationMs,
      });
      known.isFailing = true;
      known.fault = error;
      throw error;
    }
  }
}
