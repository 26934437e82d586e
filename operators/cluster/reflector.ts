import { setTimeout as pause } from 'node:timers/promises';
import { ClusterFault, type Cluster, type ClusterObject, type Collection, type WatchEvent } from '#/ports/cluster.ts';

/** Receives the objects of a collection. Its methods must not throw: no caller could handle the error. */
interface Sink {
  put(object: ClusterObject): void;
  remove(object: ClusterObject): void;
  /** The first list is complete; from now on, changes follow. */
  synced(): void;
}

export interface ReflectorOptions {
  readonly cluster: Cluster;
  readonly collection: Collection;
  readonly sink: Sink;
  readonly onFault?: (error: ClusterFault) => void;
  /** How long a first failure is waited after, and the most; 250 and 30,000 ms unless given. */
  readonly backoffMs?: readonly [least: number, most: number];
  /** When everything is listed again although nothing seems to be missing, in milliseconds; half an hour unless given. */
  readonly resyncMs?: number;
}

/** What a mirror of a collection says of itself. */
export interface Reflector {
  readonly isSynced: boolean;
  /** When the API server was last heard of this collection, milliseconds since the epoch. */
  readonly heardAt: number;
  /** How often everything was listed. */
  readonly lists: number;
  stop(): Promise<void>;
}

const GONE = 410;
/** A server that calls every state too old is not asked without pause. */
const MOST_GONE_AT_ONCE = 3;

/**
 * Mirrors a collection: lists it, then follows its changes from there on; after any end it goes on from the last state
 * it has seen. Only a state that the server no longer knows (410) is listed again at once; after other faults
 * it waits, longer each time, or as long as the server says.
 */
export function startReflector(options: ReflectorOptions): Reflector {
  const mirror = new Mirror(options);
  const running = mirror.run();
  return {
    get isSynced() {
      return mirror.isSynced;
    },
    get heardAt() {
      return mirror.heardAt;
    },
    get lists() {
      return mirror.lists;
    },
    async stop() {
      mirror.stop();
      await running;
    },
  };
}

class Mirror {
  isSynced = false;
  heardAt = Date.now();
  lists = 0;
  readonly #options: ReflectorOptions;
  readonly #stop = new AbortController();
  /** Objects that were reported, by namespace and name, with their resource version. */
  readonly #known = new Map<
    string,
    { readonly version: string; readonly object: Pick<ClusterObject, 'kind' | 'metadata'> }
  >();
  #since: string | undefined;
  #listedAt = 0;
  #failures = 0;
  #gone = 0;

  constructor(options: ReflectorOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#since === undefined) await this.#list();
        await this.#watch();
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        await this.#recover(error instanceof ClusterFault ? error : new ClusterFault('the answer cannot be read'));
      }
    }
  }

  async #list(): Promise<void> {
    const { cluster, collection, sink } = this.#options;
    const gone = new Map(this.#known);
    let version = '';
    // Each page is reported as it arrives: all of them at once would need several times the memory of the result.
    for (let next: string | undefined, more = true; more; more = next !== undefined) {
      const page = await cluster.list(collection, next);
      this.heardAt = Date.now();
      for (const item of page.items) {
        // Items of a list do not say what they are.
        const object = { ...item, kind: collection.kind };
        gone.delete(nameOf(object));
        this.#put(object);
      }
      ({ resourceVersion: version, next } = page);
    }
    this.lists++;
    this.#listedAt = performance.now();
    for (const { object } of gone.values()) this.#remove({ apiVersion: '', ...object });
    this.#since = version;
    if (!this.isSynced) {
      this.isSynced = true;
      sink.synced();
    }
  }

  async #watch(): Promise<void> {
    const { cluster, collection, resyncMs = 1_800_000 } = this.#options;
    // From the last list on: a server ends each watch long before.
    const left = this.#listedAt + resyncMs - performance.now();
    if (left <= 0) return void (this.#since = undefined);
    const resync = AbortSignal.timeout(Math.ceil(left));
    const signal = AbortSignal.any([this.#stop.signal, resync]);
    try {
      await cluster.watch(collection, this.#since ?? '', (event) => this.#take(event), signal);
    } catch (error) {
      if (!resync.aborted) throw error;
      this.#since = undefined;
    }
  }

  #take({ type, object }: WatchEvent): void {
    this.heardAt = Date.now();
    this.#failures = 0;
    this.#gone = 0;
    const version = object.metadata.resourceVersion;
    if (type === 'DELETED') this.#remove(object);
    else if (type !== 'BOOKMARK') this.#put(object);
    if (version !== undefined) this.#since = version;
  }

  #put(object: ClusterObject): void {
    const name = nameOf(object);
    const version = object.metadata.resourceVersion ?? '';
    if (this.#known.get(name)?.version === version) return;
    const { namespace, name: own } = object.metadata;
    const metadata = { name: own, ...(namespace !== undefined && { namespace }) };
    this.#known.set(name, { version, object: { kind: object.kind, metadata } });
    this.#options.sink.put(object);
  }

  #remove(object: ClusterObject): void {
    this.#known.delete(nameOf(object));
    this.#options.sink.remove(object);
  }

  async #recover(fault: ClusterFault): Promise<void> {
    this.#options.onFault?.(fault);
    if (fault.status === GONE) {
      this.#since = undefined;
      this.#gone++;
      if (this.#gone <= MOST_GONE_AT_ONCE) return;
    }
    const [least, most] = this.#options.backoffMs ?? [250, 30_000];
    const wait = Math.min(most, least * 2 ** Math.min(this.#failures, 16)) * (0.5 + Math.random() / 2);
    this.#failures++;
    await pause(fault.retryAfterMs ?? wait, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}

function nameOf({ metadata: { namespace = '', name } }: Pick<ClusterObject, 'metadata'>): string {
  return `${namespace}/${name}`;
}
