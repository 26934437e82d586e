import { LRUCache } from 'lru-cache';
import type { ToolDefinitionsConfig } from '#/config/snapshot.ts';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import {
  readPinnedList,
  type OtherList,
  type PinChange,
  type PinnedServer,
  type PinState,
  type ServerPins,
  type ToolPins,
} from '#/ports/tool-pins.ts';
import { decidePins, type PinDecision, type PinNews } from '#/route/tools/decide-pins.ts';
import { readDefinitions, type ReadDefinition, type UnfitReason, type UnfitTool } from '#/route/tools/definitions.ts';

/** A list of tools, or another one whose entries are pinned. */
type PinnedList = 'tools' | OtherList;

/** Told of the store, and of what happens to tools. `hidden`: invisible and bidirectional characters in their definitions. */
export type PinEvent =
  | { readonly kind: 'pins.fault'; readonly error: unknown }
  | (PinnedServer & {
      readonly kind: 'tools.changed';
      readonly list: PinnedList;
      readonly what: PinNews;
      readonly tools: readonly string[];
      readonly hidden: number;
    })
  | (PinnedServer & {
      readonly kind: 'tools.unfit';
      readonly list: PinnedList;
      readonly why: UnfitReason;
      readonly tools: readonly string[];
    });

/** Which of a server's tools may be offered. */
export interface PinnedTools {
  /** In the server's order, without `_meta`, each with its pin. */
  readonly offered: readonly ReadDefinition[];
  /** By name. Those that are `accepted` are offered; `removed` are not listed now. */
  readonly states: ReadonlyMap<string, PinState>;
  /** SHA-256 of the definitions that are listed, by name. */
  readonly pins: ReadonlyMap<string, string>;
  /** What can be neither offered nor accepted. */
  readonly unfit: readonly UnfitTool[];
}

export interface PinKeeperDeps {
  readonly store: Pick<ToolPins, 'read' | 'change'>;
  readonly onEvent: (event: PinEvent) => void;
  readonly now?: () => number;
}

/** How often a decision is made again because another gateway was first. */
const MOST_TRIES = 5;
const MOST_SERVERS = 5000;
/** All that is known of servers together, about. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What a pin or a state takes besides its texts, about. */
const ENTRY_BYTES = 128;
/** A server that is not asked any longer is not counted, and its last known pins are forgotten. */
const FORGOTTEN_AFTER_MS = 900_000;

/** What this process knows of a server. */
interface Known {
  readonly of: PinnedServer;
  pins?: ServerPins;
  /** What metrics tell of its last list: not the definitions, which are large. */
  last?: Pick<PinnedTools, 'states' | 'unfit'> & { readonly hidden: number };
}

/**
 * Decides which tools may be offered, by pins that all gateways share. While the store is away, the last known pins hold, and
 * nothing new is accepted.
 */
export class PinKeeper {
  readonly #deps: PinKeeperDeps;
  readonly #known = new LRUCache<string, Known>({
    max: MOST_SERVERS,
    maxSize: MOST_BYTES,
    sizeCalculation: bytesOf,
    ttl: FORGOTTEN_AFTER_MS,
  });

  constructor(deps: PinKeeperDeps) {
    this.#deps = deps;
  }

  /** `tools`: the whole list of the server, before any of it is left out for another reason. Never rejects. */
  async decide(
    of: PinnedServer,
    config: ToolDefinitionsConfig,
    tools: readonly Pick<ListedTool, 'name' | 'definition'>[],
  ): Promise<PinnedTools> {
    const key = `${of.organization} ${of.server}`;
    const known: Known = this.#known.get(key) ?? { of };
    const { read, unfit } = readDefinitions(tools);
    const { states } = await this.#agree(known, config, read);
    const offered = read.filter(({ name }) => states.get(name) === 'accepted');
    this.#tellUnfit(known, unfit);
    // A new object: its size is measured when it is set.
    this.#known.set(key, { ...known, last: { states, unfit, hidden: hiddenIn(offered) } });
    return { offered, states, unfit, pins: new Map(read.map(({ name, sha256 }) => [name, sha256])) };
  }

  /** Tools in each state by server, of all organizations together; or the entries of another list. */
  counts(list: PinnedList): readonly (readonly [server: string, state: PinState | 'unfit', tools: number])[] {
    const lists = this.#known.values().flatMap(({ of, last }) => {
      const kept = readPinnedList(of.server);
      return last && kept.list === list ? [[kept.server, last] as const] : [];
    });
    const servers = Map.groupBy(lists, ([server]) => server);
    return [...servers].flatMap(([server, ofServer]) => {
      const states = ofServer.flatMap(([, tools]) => [
        ...tools.states.values(),
        ...tools.unfit.map(() => 'unfit' as const),
      ]);
      return STATES.map((state) => [server, state, states.filter((one) => one === state).length] as const);
    });
  }

  /** Invisible and bidirectional characters in the definitions that are offered, by server and list. */
  hidden(): readonly (readonly [server: string, list: PinnedList, characters: number])[] {
    const counts = new Map<string, number>();
    for (const { of, last } of this.#known.values()) {
      if (last) counts.set(of.server, (counts.get(of.server) ?? 0) + last.hidden);
    }
    return [...counts].map(([kept, characters]) => {
      const { server, list } = readPinnedList(kept);
      return [server, list, characters] as const;
    });
  }

  /** Decides and writes; decides again where another gateway was first, on what that one wrote. */
  async #agree(
    known: Known,
    config: ToolDefinitionsConfig,
    listed: readonly ReadDefinition[],
  ): Promise<Pick<PinDecision, 'states'>> {
    const { store, onEvent, now = Date.now } = this.#deps;
    try {
      for (let tries = 0; tries < MOST_TRIES; tries++) {
        const pins = await this.#read(known);
        const { states, change, news } = decidePins({ config, listed, known: pins, now: now() });
        if (!change) return { states };
        if (!(await store.change({ ...known.of, ...change, version: pins?.version ?? 0 }))) continue;
        known.pins = changed(pins, change);
        this.#tell(known.of, news, listed);
        return { states };
      }
    } catch (error) {
      onEvent({ kind: 'pins.fault', error });
    }
    // Never as a first list, which would be accepted.
    const last = known.pins ?? { mode: config.mode, version: 0, pins: [] };
    return decidePins({ config, listed, known: last, now: now() });
  }

  async #read(known: Known): Promise<ServerPins | undefined> {
    const found = await this.#deps.store.read(known.of, known.pins?.version);
    if (found === undefined) delete known.pins;
    else if (found !== 'unchanged') known.pins = found;
    return known.pins;
  }

  #tell(of: PinnedServer, news: PinDecision['news'], listed: readonly ReadDefinition[]): void {
    for (const [what, tools] of news) {
      const names = new Set(tools);
      const hidden = hiddenIn(listed.filter(({ name }) => names.has(name)));
      this.#deps.onEvent({ kind: 'tools.changed', ...of, ...readPinnedList(of.server), what, tools, hidden });
    }
  }

  /** Once, as long as they stay the same. */
  #tellUnfit({ of, last }: Known, unfit: readonly UnfitTool[]): void {
    const before = new Set(last?.unfit.map(({ name, why }) => `${why} ${name}`));
    const fresh = unfit.filter(({ name, why }) => !before.has(`${why} ${name}`));
    for (const [why, tools] of Map.groupBy(fresh, (one) => one.why)) {
      this.#deps.onEvent({
        kind: 'tools.unfit',
        ...of,
        ...readPinnedList(of.server),
        why,
        tools: tools.map(({ name }) => name),
      });
    }
  }
}

const STATES = ['accepted', 'quarantined', 'removed', 'unfit'] as const;

function hiddenIn(definitions: readonly ReadDefinition[]): number {
  return definitions.reduce((sum, { hidden }) => sum + hidden, 0);
}

/** About how much memory it takes. */
function bytesOf({ of, pins, last }: Known): number {
  let bytes = ENTRY_BYTES + of.organization.length + of.server.length;
  for (const { tool, sha256, by } of pins?.pins ?? []) bytes += ENTRY_BYTES + tool.length + sha256.length + by.length;
  for (const tool of last?.states.keys() ?? []) bytes += ENTRY_BYTES + tool.length;
  for (const { name } of last?.unfit ?? []) bytes += ENTRY_BYTES + 2 * name.length;
  return bytes;
}

/** The pins after a change that was written. */
function changed(
  pins: ServerPins | undefined,
  { mode, put, drop }: Pick<PinChange, 'mode' | 'put' | 'drop'>,
): ServerPins {
  const replaced = new Set([...put, ...drop].map(({ tool, sha256 }) => `${tool} ${sha256}`));
  const kept = (pins?.pins ?? []).filter(({ tool, sha256 }) => !replaced.has(`${tool} ${sha256}`));
  const added = put.map(({ tool, sha256, state, since, by }) => ({ tool, sha256, state, since, by }));
  return { mode, version: (pins?.version ?? 0) + 1, pins: [...kept, ...added] };
}
