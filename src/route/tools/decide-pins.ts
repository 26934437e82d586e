import type { ToolDefinitionsConfig } from '#/config/snapshot.ts';
import type { PinChange, PinState, PutPin, ServerPins, ToolPin } from '#/ports/tool-pins.ts';
import type { ReadDefinition } from './definitions.ts';

/** A list of tools to decide on. */
export interface PinQuestion {
  readonly config: ToolDefinitionsConfig;
  /** What the server lists now; each name once. */
  readonly listed: readonly ReadDefinition[];
  /** Absent: nothing was ever known of the server, so that this is its first list. */
  readonly known: ServerPins | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What happened to tools since the last list. */
export type PinNews = 'pinned' | 'quarantined' | 'changed' | 'removed' | 'returned';

/** Which tools may be offered, and the changes to write. */
export interface PinDecision {
  /** By name: `accepted` and `quarantined` are listed, `removed` are not. */
  readonly states: ReadonlyMap<string, PinState>;
  /** Absent: nothing changes. */
  readonly change?: Pick<PinChange, 'mode' | 'put' | 'drop'>;
  /** Names of tools by what happened. */
  readonly news: ReadonlyMap<PinNews, readonly string[]>;
}

/** Of longer definitions only the hash is kept. */
const MOST_CHARACTERS = 65_536;
/** Accepted definitions of tools that are gone: the oldest are forgotten. */
const MOST_REMOVED = 1000;

/** Decides which of the definitions that a server lists are offered, by mode and by its pins. */
export function decidePins({ config, listed, known, now }: PinQuestion): PinDecision {
  const table = new PinTable(known, now);
  for (const one of listed) {
    const accepted = table.acceptedOf(one.name);
    const isAccepted =
      config.mode === 'declared'
        ? config.declared.get(one.name) === one.sha256
        : config.mode === 'record' || !known || accepted?.sha256 === one.sha256;
    if (isAccepted) table.accept(one, known ? `gateway:${config.mode}` : BY_FIRST_LIST[config.mode]);
    else table.quarantine(one, `gateway:${config.mode}`);
  }
  table.remove(new Set(listed.map(({ name }) => name)));
  if (config.mode === 'declared') table.forgetUndeclared(config.declared);
  const { states, news, put, drop } = table;
  // A server that lists nothing yet has not shown its first list.
  const isWritten = put.length + drop.length > 0 || (known !== undefined && known.mode !== config.mode);
  return { states, news, ...(isWritten && { change: { mode: config.mode, put, drop } }) };
}

const BY_FIRST_LIST = { record: 'gateway:record', pin: 'gateway:first-list', declared: 'gateway:declared' } as const;

/** The pins of one server while they are decided on. */
class PinTable {
  readonly states = new Map<string, PinState>();
  readonly news = new Map<PinNews, string[]>();
  readonly #now: number;
  readonly #known: ReadonlyMap<string, readonly ToolPin[]>;
  readonly #isFirst: boolean;
  readonly #put = new Map<string, PutPin>();
  readonly #drop = new Map<string, ToolPin>();

  constructor(known: ServerPins | undefined, now: number) {
    this.#now = now;
    this.#isFirst = known === undefined;
    this.#known = Map.groupBy(known?.pins ?? [], ({ tool }) => tool);
  }

  get put(): readonly PutPin[] {
    return [...this.#put.values()];
  }

  get drop(): readonly ToolPin[] {
    return [...this.#drop.values()];
  }

  /** The one definition of a tool that is accepted, be the tool there or not. */
  acceptedOf(tool: string): ToolPin | undefined {
    return this.#known.get(tool)?.find(({ state }) => state !== 'quarantined');
  }

  /** This definition, and no other one of the tool. */
  accept(one: ReadDefinition, by: string): void {
    this.states.set(one.name, 'accepted');
    const before = this.acceptedOf(one.name);
    this.#dropOthers(one.name, (pin) => pin.sha256 !== one.sha256);
    if (before?.sha256 !== one.sha256) {
      this.#keep(one, 'accepted', by);
      this.#tell(this.#isFirst ? 'pinned' : 'changed', one.name);
    } else if (before.state === 'removed') {
      this.#keep(one, 'accepted', before.by, before.since);
      this.#tell('returned', one.name);
    }
  }

  /** This definition. Another one of the tool that is accepted stays accepted. */
  quarantine(one: ReadDefinition, by: string): void {
    this.states.set(one.name, 'quarantined');
    const { name, sha256 } = one;
    this.#dropOthers(name, (pin) => pin.state === 'quarantined' && pin.sha256 !== sha256);
    if (this.#known.get(name)?.some((pin) => pin.state === 'quarantined' && pin.sha256 === sha256)) return;
    this.#keep(one, 'quarantined', by);
    this.#tell('quarantined', name);
  }

  /** Marks accepted definitions of tools that are not there, and forgets the others. */
  remove(there: ReadonlySet<string>): void {
    const removed: ToolPin[] = [];
    for (const [tool, pins] of this.#known) {
      if (there.has(tool)) continue;
      this.#dropOthers(tool, ({ state }) => state === 'quarantined');
      for (const pin of pins) {
        if (pin.state === 'quarantined') continue;
        removed.push(pin);
        this.states.set(tool, 'removed');
        if (pin.state === 'removed') continue;
        this.#put.set(keyOf(pin), { ...pin, state: 'removed' });
        this.#tell('removed', tool);
      }
    }
    const tooMany = removed.length - MOST_REMOVED;
    if (tooMany > 0)
      for (const pin of removed.toSorted((a, b) => a.since - b.since).slice(0, tooMany)) this.#forget(pin);
  }

  /** Definitions that are not declared are no longer accepted, in a later mode neither. */
  forgetUndeclared(declared: ReadonlyMap<string, string>): void {
    for (const pin of this.#known.values().toArray().flat()) {
      const isHeld = this.#put.get(keyOf(pin))?.state === 'quarantined';
      if (pin.state !== 'quarantined' && declared.get(pin.tool) !== pin.sha256 && !isHeld) this.#forget(pin);
    }
  }

  #keep({ name, sha256, text }: ReadDefinition, state: PinState, by: string, since = this.#now): void {
    const definition = text.length <= MOST_CHARACTERS ? { definition: text } : undefined;
    this.#put.set(keyOf({ tool: name, sha256 }), { tool: name, sha256, state, since, by, ...definition });
  }

  #dropOthers(tool: string, isOther: (pin: ToolPin) => boolean): void {
    for (const pin of this.#known.get(tool) ?? []) if (isOther(pin)) this.#drop.set(keyOf(pin), pin);
  }

  #forget(pin: ToolPin): void {
    this.#put.delete(keyOf(pin));
    this.#drop.set(keyOf(pin), pin);
    if (this.states.get(pin.tool) === 'removed') this.states.delete(pin.tool);
  }

  #tell(what: PinNews, tool: string): void {
    const tools = this.news.get(what);
    if (tools) tools.push(tool);
    else this.news.set(what, [tool]);
  }
}

function keyOf({ tool, sha256 }: Pick<ToolPin, 'tool' | 'sha256'>): string {
  return `${tool} ${sha256}`;
}
