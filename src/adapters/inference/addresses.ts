import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** The addresses of a name. */
export type Lookup = (name: string) => Promise<readonly { readonly address: string }[]>;

/** For so long a name is not asked about again: a pod that came or went is seen by then. */
const KNOWN_MS = 2000;

interface Known {
  readonly hosts: Promise<readonly string[]>;
  readonly until: number;
  turn: number;
}

/** Where a name leads. A pool has one with an address for each of its pods, in no order to rely on. */
export class Addresses {
  readonly #lookup: Lookup;
  readonly #known = new Map<string, Known>();

  constructor(find: Lookup = (name) => lookup(name, { all: true })) {
    this.#lookup = find;
  }

  /** The addresses behind a URL, each first in its turn; of https the name itself, which its certificate is for. */
  async of(url: string): Promise<readonly [string, ...string[]]> {
    const { protocol, hostname } = new URL(url);
    if (protocol !== 'http:' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return [url];
    const known = this.#ask(hostname);
    const hosts = await known.hosts;
    if (hosts.length === 0) return [url];
    const first = known.turn++ % hosts.length;
    const inTurn = [...hosts.slice(first), ...hosts.slice(0, first)].map((host) => at(url, host));
    return inTurn as [string, ...string[]];
  }

  #ask(name: string): Known {
    const earlier = this.#known.get(name);
    if (earlier && earlier.until > performance.now()) return earlier;
    const hosts = this.#lookup(name).then((found) => found.map(({ address }) => address).sort());
    const known = { hosts, until: performance.now() + KNOWN_MS, turn: earlier?.turn ?? 0 };
    this.#known.set(name, known);
    hosts.catch(() => this.#known.get(name) === known && this.#known.delete(name));
    return known;
  }
}

function at(url: string, host: string): string {
  const place = new URL(url);
  place.hostname = isIP(host) === 6 ? `[${host}]` : host;
  return place.href;
}
