import type {
  KeptDefinition,
  PinChange,
  PinMode,
  PinnedServer,
  PinnedServerCount,
  PinState,
  ServerPins,
  ToolPin,
  ToolPins,
} from '#/ports/tool-pins.ts';

interface Kept {
  mode: PinMode;
  version: number;
  /** By tool and hash. */
  readonly pins: Map<string, KeptDefinition>;
}

/** Pins in memory, as the contract asks for; `away` makes every verb reject. */
export class MemoryPins implements ToolPins {
  readonly #servers = new Map<string, Kept & PinnedServer>();
  away = false;

  read({ organization, server }: PinnedServer, known?: number): Promise<ServerPins | 'unchanged' | undefined> {
    return this.#answer(() => {
      const kept = this.#servers.get(`${organization} ${server}`);
      if (kept?.version === known && kept) return 'unchanged';
      return kept && { mode: kept.mode, version: kept.version, pins: ordered(kept.pins.values()).map(withoutText) };
    });
  }

  change({ organization, server, mode, version, put, drop }: PinChange): Promise<boolean> {
    return this.#answer(() => {
      const id = `${organization} ${server}`;
      const kept = this.#servers.get(id) ?? {
        organization,
        server,
        mode,
        version: 0,
        pins: new Map<string, KeptDefinition>(),
      };
      if (kept.version !== version) return false;
      for (const { tool, sha256 } of drop) kept.pins.delete(`${tool} ${sha256}`);
      for (const pin of put) {
        const name = `${pin.tool} ${pin.sha256}`;
        const text = pin.definition ?? kept.pins.get(name)?.definition;
        kept.pins.set(name, { ...pin, ...(text !== undefined && { definition: text }) });
      }
      kept.mode = mode;
      kept.version++;
      this.#servers.set(id, kept);
      return true;
    });
  }

  servers(): Promise<readonly PinnedServerCount[]> {
    return this.#answer(() =>
      [...this.#servers.keys()].toSorted().map((id) => {
        const { organization, server, mode, pins } = this.#servers.get(id)!;
        const count = (state: PinState): number =>
          pins
            .values()
            .filter((pin) => pin.state === state)
            .toArray().length;
        const [accepted, quarantined, removed] = [count('accepted'), count('quarantined'), count('removed')];
        return { organization, server, mode, accepted, quarantined, removed };
      }),
    );
  }

  definitions({ organization, server }: PinnedServer, tool: string): Promise<readonly KeptDefinition[]> {
    return this.#answer(() => {
      const pins = this.#servers.get(`${organization} ${server}`)?.pins.values() ?? [];
      return ordered(pins)
        .filter((pin) => pin.tool === tool)
        .toSorted((a, b) => (a.state < b.state ? -1 : Number(a.state > b.state)));
    });
  }

  #answer<T>(of: () => T): Promise<T> {
    return this.away ? Promise.reject(new Error('the pins are away')) : Promise.resolve(of());
  }
}

function ordered(pins: Iterable<KeptDefinition>): KeptDefinition[] {
  const key = ({ tool, sha256 }: ToolPin): string => `${tool} ${sha256}`;
  return [...pins].toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}

function withoutText({ tool, sha256, state, since, by }: KeptDefinition): ToolPin {
  return { tool, sha256, state, since, by };
}
