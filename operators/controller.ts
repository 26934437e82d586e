import type { CheckedDocuments } from '#/config/compile/catalog.ts';
import { comparePositions } from '#/config/published/position.ts';
import { startReflector, type Reflector } from './cluster/reflector.ts';
import type { ClusterFault, ClusterKind } from '#/ports/cluster.ts';
import type { PublishedHead } from '#/config/published/config-store.ts';
import { TIMINGS, type ControllerEvent, type ControllerOptions, type ControllerState } from './controller-options.ts';
import { accept, type Accepted, type Document } from './resources/accept.ts';
import { startElector, type Elector } from './cluster/elector.ts';
import { createJudge, type Judge } from './status/judge.ts';
import { Progress } from './status/progress.ts';
import { Fenced, Publication } from './publish/publication.ts';
import { Sealer } from './publish/sealer.ts';
import { documentTexts, earlierDocuments, earlierSecrets, keyTexts, secretTexts } from './publish/texts.ts';
import { OWN_KINDS, World, type Change } from './resources/world.ts';
import { createWriter, type Writer } from './cluster/writer.ts';
import { spendersOf } from './status/spending.ts';

const RETRY_MS = 1000;

/** Begins to mirror the cluster, and to compete for the lease; publishes while it leads. */
export function startController(options: ControllerOptions): Controller {
  const controller = new Controller(options);
  controller.start();
  return controller;
}

export class Controller {
  readonly #options: ControllerOptions;
  readonly #timings: typeof TIMINGS;
  readonly #world = new World();
  readonly #progress: Progress;
  readonly #checked: CheckedDocuments = new WeakMap();
  readonly #publication: Publication;
  readonly #sealer: Sealer;
  readonly #writer: Writer;
  readonly #judge: Judge;
  #reflectors: readonly Reflector[] = [];
  #elector: Elector | undefined;
  /** The term that was begun last, and the one for which what earlier ones published was read. */
  #begun: number | undefined;
  #term: number | undefined;
  #accepted: Accepted | undefined;
  #lastGood = new Map<string, Document>();
  /** The set of compiled resources may have changed. */
  #stale = true;
  readonly #touched = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #lookTimer: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#timings = { ...TIMINGS, ...options.timings };
    this.#progress = new Progress(this.#timings.reportMs);
    this.#publication = new Publication(options.store, options.keys, () => this.#progress.doubt());
    this.#sealer = new Sealer(options.keys);
    this.#writer = createWriter({
      mayWrite: () => this.#elector?.epoch !== undefined && !this.#stopped,
      onFault: (error) => this.#tell({ name: 'cluster.fault', kind: undefined, error }),
    });
    this.#judge = createJudge({
      cluster: options.cluster,
      writer: this.#writer,
      world: this.#world,
      progress: this.#progress,
      spending: options.spending,
    });
  }

  start(): void {
    const { cluster, namespaces, leases, name } = this.#options;
    const kinds: readonly ClusterKind[] = [...OWN_KINDS, 'Secret', 'Namespace'];
    const places = namespaces.length === 0 ? [undefined] : namespaces;
    this.#reflectors = kinds.flatMap((kind) =>
      places.map((namespace) =>
        startReflector({
          cluster,
          collection: { kind, ...(namespace !== undefined && { namespace }) },
          sink: {
            put: (object) => this.#change(this.#world.put(object)),
            remove: (object) => {
              this.#progress.forget(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`);
              this.#change(this.#world.remove(object));
            },
            synced: () => this.#soon(0),
          },
          onFault: (error: ClusterFault) => this.#tell({ name: 'cluster.fault', kind, error }),
        }),
      ),
    );
    const { leaseSeconds, renewDeadlineMs, retryMs } = this.#timings;
    this.#elector = startElector({
      leases,
      name,
      leaseSeconds,
      renewDeadlineMs,
      retryMs,
      floor: () => this.#floor(),
      onChange: (epoch) => {
        if (epoch === undefined) this.#writer.clear();
        this.#tell(epoch === undefined ? { name: 'controller.following' } : { name: 'controller.leading', epoch });
        this.#soon(0);
      },
      onFault: (error) => this.#tell({ name: 'cluster.fault', kind: undefined, error }),
    });
    this.#lookSoon();
  }

  /** Ends all it does, and gives the lease up. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#lookTimer);
    await Promise.all(this.#reflectors.map((reflector) => reflector.stop()));
    await this.#work;
    await this.#elector?.stop();
  }

  state(): ControllerState {
    const now = Date.now();
    return {
      epoch: this.#elector?.epoch,
      isSynced: this.#isSynced(),
      silentMs: Math.max(0, ...this.#reflectors.map(({ heardAt }) => now - heardAt)),
      seq: this.#publication.head?.seq ?? 0,
      keys: this.#world.keys.size,
      documents: this.#accepted?.documents.size ?? 0,
      faulty: this.#accepted?.faults.size ?? 0,
      gateways: this.#progress.gateways,
      pending: this.#progress.pending.size,
      waitingWrites: this.#writer.waiting,
      publishedBytes: this.#publication.bytes,
      lists: this.#reflectors.reduce((sum, { lists }) => sum + lists, 0),
    };
  }

  #isSynced(): boolean {
    return this.#reflectors.length > 0 && this.#reflectors.every((reflector) => reflector.isSynced);
  }

  #change({ compiled, touched }: Change): void {
    this.#stale ||= compiled;
    for (const name of touched) this.#touched.add(name);
    this.#soon(this.#timings.debounceMs);
  }

  /** Work runs one at a time; changes that arrive meanwhile are handled together next. */
  #soon(ms: number): void {
    if (this.#timer || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#run(() => this.#reconcile());
    }, ms);
  }

  #run(task: () => Promise<void>): void {
    this.#work = this.#work.then(task).catch((error: unknown) => {
      if (error instanceof Fenced) this.#elector?.stepDown();
      // Reports of live gateways expire while the store is unreachable.
      else this.#progress.doubt();
      this.#tell({ name: 'store.fault', error });
      this.#soon(RETRY_MS);
    });
  }

  async #reconcile(): Promise<void> {
    const epoch = this.#elector?.epoch;
    if (epoch === undefined || !this.#isSynced() || this.#stopped) return;
    if (this.#term !== epoch) await this.#beginTerm(epoch);
    // From here to publishing the world stands still.
    const everything = this.#stale || !this.#accepted;
    const accepted = everything ? this.#accept() : this.#accepted!;
    this.#publication.set(keyTexts(this.#world.keys.takeDirty((id) => this.#world.hasWorkload(id))));
    if (everything) this.#publication.set(this.#documentTexts(accepted));
    this.#accepted = accepted;
    this.#stale = false;
    if (everything) this.#touchDocuments();
    const generations = this.#takeTouched();
    try {
      if (!this.#publication.isPublished(epoch)) await this.#publish(epoch);
    } catch (error) {
      for (const name of generations.keys()) this.#touched.add(name);
      this.#judge.judge(generations.keys(), { accepted, publishFailed: true, generations });
      throw error;
    }
    const at = this.#publication.head!;
    this.#judge.judge(generations.keys(), { accepted, publishFailed: false, at, generations });
    this.#rememberGood(accepted);
    this.#run(() => this.#look());
  }

  #accept(): Accepted {
    const { usdToEur, platformNamespace, organizationNamespaces } = this.#options;
    return accept(this.#world.documents(), {
      ...{ usdToEur, platformNamespace, organizationNamespaces },
      secret: (namespace, name, key) => this.#world.secret(namespace, name, key),
      lastGood: this.#lastGood,
      checked: this.#checked,
    });
  }

  #documentTexts({ documents, secrets }: Accepted): ReadonlyMap<string, string> {
    const known = this.#publication.names.filter((name) => !/^(?:keys|secrets)(?:-|$)/.test(name));
    return new Map([...documentTexts(documents, known), ...secretTexts(this.#sealer.rows(secrets))]);
  }

  async #publish(epoch: number): Promise<void> {
    const startedAt = performance.now();
    const { seq } = await this.#publication.publish(epoch);
    this.#tell({ name: 'config.published', epoch, seq, ms: performance.now() - startedAt });
  }

  #rememberGood({ documents, earlier }: Accepted): void {
    for (const [name, document] of documents) if (!earlier.has(name)) this.#lastGood.set(name, document);
    for (const name of this.#lastGood.keys()) if (!this.#world.objects.has(name)) this.#lastGood.delete(name);
  }

  /** Changed objects, with their current generation. */
  #takeTouched(): ReadonlyMap<string, number> {
    const names = [...this.#touched];
    this.#touched.clear();
    return new Map(names.map((name) => [name, this.#world.objects.get(name)?.generation ?? 0]));
  }

  #touchDocuments(): void {
    for (const [name, { ref }] of this.#world.objects) if (ref.kind !== 'VirtualKey') this.#touched.add(name);
  }

  /** Versions that earlier controllers published stand in for resources with faults, and are not written again. */
  async #beginTerm(epoch: number): Promise<void> {
    if (this.#begun !== epoch) {
      this.#progress.begin();
      this.#touchAll();
    }
    this.#begun = epoch;
    const parts = await this.#publication.readEarlier().catch((error: unknown) => {
      const generations = this.#takeTouched();
      const grounds = { accepted: this.#accept(), publishFailed: true, earlierUnread: true, generations };
      this.#judge.judge(generations.keys(), grounds);
      throw error;
    });
    this.#lastGood = new Map([...earlierDocuments(parts), ...this.#lastGood]);
    this.#sealer.adopt(earlierSecrets(parts));
    this.#term = epoch;
    this.#stale = true;
    this.#touchAll();
  }

  #touchAll(): void {
    for (const name of this.#world.objects.keys()) this.#touched.add(name);
  }

  /** Terms of ours are later than any that was published, or that a gateway serves by. */
  async #floor(): Promise<number> {
    const { store } = this.#options;
    const [head, gateways] = await Promise.all([store.head(), store.gateways()]);
    return Math.max(head?.epoch ?? 0, ...[...gateways.values()].map(({ epoch }) => epoch));
  }

  /** Soon again while gateways are waited for. */
  #lookSoon(): void {
    clearTimeout(this.#lookTimer);
    if (this.#stopped) return;
    const { lookMs, hurryMs } = this.#timings;
    const awaited = this.#progress.pending.size > 0 && this.#progress.gateways > 0;
    this.#lookTimer = setTimeout(() => this.#run(() => this.#look()), awaited ? hurryMs : lookMs);
  }

  /** Reads the reports of gateways, and checks that the store still has the publication. */
  async #look(): Promise<void> {
    try {
      const epoch = this.#elector?.epoch;
      const head = this.#publication.head;
      if (head && epoch !== undefined && head.epoch === epoch && !this.#stopped) await this.#compare(head);
    } finally {
      this.#lookSoon();
    }
  }

  async #compare(head: PublishedHead): Promise<void> {
    const { store, spending } = this.#options;
    const [there, gateways] = await Promise.all([store.head(), store.gateways()]);
    const reports = [...gateways.values()];
    const later = [there, ...reports].find((position) => position && position.epoch > head.epoch);
    if (later) throw new Fenced(later);
    // Flushed, or put back to an earlier state.
    if (!there || comparePositions(there, head) !== 0) await this.#publish(head.epoch);
    await this.#publication.put(reports.flatMap(({ broken }) => broken));
    const accepted = this.#accepted!;
    this.#judge.judge(this.#progress.hear(reports), { accepted, publishFailed: false });
    spending?.refresh(spendersOf(accepted.documents), (name) =>
      this.#judge.judge([name], { accepted: this.#accepted!, publishFailed: false }),
    );
  }

  #tell(event: ControllerEvent): void {
    this.#options.onEvent?.(event);
  }
}
