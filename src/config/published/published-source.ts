import type { ConfigCopy, ConfigFeed, PublishedHead } from '#/config/published/config-store.ts';
import { createQueue, safely, type ConfigEvent, type ConfigSource, type NotTaken } from '../config-source.ts';
import type { Fault } from '../fault.ts';
import { createAssembler, type Assembler, type AssemblerOptions, type PublishedSnapshot } from './assemble.ts';
import { readHead, type Manifest } from './manifest.ts';
import { comparePositions } from './position.ts';
import { readSegment } from './segment.ts';

export interface PublishedSourceOptions extends AssemblerOptions {
  readonly feed: ConfigFeed;
  readonly copy: ConfigCopy;
  /** What this gateway reports itself as. */
  readonly gateway: string;
  readonly onEvent?: (event: ConfigEvent) => void;
  /** How often the store is looked at, in milliseconds, give or take a fifth; 5000 unless given. */
  readonly pollMs?: number;
}

/** The publication taken over last. */
interface Taken {
  readonly head: PublishedHead;
  readonly snapshot: PublishedSnapshot;
}

/** From then on it may be that a key is missing only because it is new. */
const MOST_AGE_MS = 60_000;
const POLL_MS = 5000;

/**
 * Follows what the controller publishes: told of changes, and polling for those it was not told of. A publication is
 * taken over whole, in one step, or not at all; then it is kept on disk and reported. Where the store says nothing, the
 * last good one holds, at first the one on disk. Resolves once both were looked at.
 */
export async function openPublishedSource(options: PublishedSourceOptions): Promise<ConfigSource> {
  const source = new PublishedSource(options);
  await source.start();
  return source;
}

class PublishedSource implements ConfigSource {
  readonly #options: PublishedSourceOptions;
  readonly #assembler: Assembler;
  readonly #emit: (event: ConfigEvent) => void;
  readonly #queue = createQueue();
  #taken: Taken | undefined;
  #faults: readonly Fault[] = [];
  /** Digests of segments that could not be read and have to be written again. */
  #broken: readonly string[] = [];
  #trouble: NotTaken | 'rejected' | undefined;
  /** What the copy lacks; `fresh` is not there when all segments are to be fetched for it. */
  #unkept: { readonly manifest: Manifest; readonly fresh: ReadonlyMap<string, Uint8Array> | undefined } | undefined;
  #keepFailed = false;
  /** When the configuration in force was last known to be the published one. */
  #confirmedAt = Date.now();
  /** Whether it was since this process began. */
  #confirmed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PublishedSourceOptions) {
    this.#options = options;
    this.#assembler = createAssembler(options);
    this.#emit = safely(options.onEvent);
  }

  async start(): Promise<void> {
    await this.#queue.run(() => this.#readCopy());
    this.#options.feed.follow(() => void this.reload());
    await this.reload();
    this.#poll();
  }

  current(): PublishedSnapshot | undefined {
    return this.#taken?.snapshot;
  }

  readable(): boolean {
    return this.#taken !== undefined && this.#faults.length === 0 && this.#isSure();
  }

  mayHold(hash: string): boolean {
    return !this.#isSure() || (this.#taken?.snapshot.withheld(hash) ?? true);
  }

  mayHoldId(id: string): boolean {
    return !this.#isSure() || (this.#taken?.snapshot.withheldId(id) ?? true);
  }

  age(): number {
    return Math.max(0, Date.now() - this.#confirmedAt);
  }

  faults(): readonly Fault[] {
    return this.#faults;
  }

  reload(): Promise<void> {
    return this.#queue.run(async () => {
      try {
        await this.#look();
      } catch (error) {
        this.#emit({ name: 'config.failed', error });
      }
      // When that fails, the next look says that the store is unreachable.
      if (!this.#queue.closed()) await this.#report().catch(() => {});
      await this.#keep();
    });
  }

  close(): void {
    this.#queue.close();
    clearTimeout(this.#timer);
  }

  #isSure(): boolean {
    return this.#confirmed && this.age() <= MOST_AGE_MS;
  }

  #poll(): void {
    const wait = (this.#options.pollMs ?? POLL_MS) * (0.8 + Math.random() * 0.4);
    this.#timer = setTimeout(() => void this.reload().then(() => this.#queue.closed() || this.#poll()), wait).unref();
  }

  /** Faults of the copy are ignored: it only saves the time until the store answers. */
  async #readCopy(): Promise<void> {
    try {
      const last = await this.#options.copy.head();
      if (last && (await this.#takeOver(last, this.#options.copy))) this.#confirmedAt = last.keptAt;
    } catch (error) {
      this.#emit({ name: 'config.failed', error });
    }
    this.#faults = [];
    this.#broken = [];
    this.#trouble = undefined;
  }

  async #look(): Promise<void> {
    const { feed } = this.#options;
    let head: PublishedHead | undefined;
    try {
      head = await feed.head();
    } catch {
      return void this.#leave('unreachable');
    }
    if (!head) return void this.#leave('missing');
    const step = this.#taken ? comparePositions(head, this.#taken.head) : 1;
    if (step < 0) return void this.#leave('older');
    if (step === 0 || (await this.#takeOver(head, feed))) this.#confirm();
  }

  /** Takes a head over from a place where its segments are. False when that cannot be done. */
  async #takeOver(head: PublishedHead, from: ConfigFeed | ConfigCopy): Promise<boolean> {
    const manifest = readHead(head, this.#options.keys);
    if (!manifest) return this.#leave('forged');
    const lacking = this.#assembler.lacks(manifest);
    let found: ReadonlyMap<string, Uint8Array>;
    try {
      found = await from.segments(lacking.map(([, digest]) => digest));
    } catch {
      return this.#leave('unreachable');
    }
    const texts = new Map<string, string>();
    const unread: (readonly [name: string, digest: string])[] = [];
    for (const [name, digest] of lacking) {
      const text = readSegment(digest, found.get(digest));
      if (text === undefined) unread.push([name, digest]);
      else texts.set(digest, text);
    }
    if (unread.length > 0) {
      this.#broken = unread.map(([, digest]) => digest);
      return this.#leave(
        'broken',
        unread.map(([name]) => name),
      );
    }
    const result = this.#assembler.assemble(manifest, texts);
    if (!result.snapshot) return this.#reject(result.faults);
    this.#taken = { head, snapshot: result.snapshot };
    this.#emit({ name: 'config.loaded', revision: result.snapshot.revision, counts: result.counts });
    if (from === this.#options.feed) this.#unkept = { manifest, fresh: this.#keepFailed ? undefined : found };
    return true;
  }

  /** A copy that cannot be written costs only a restart without the store: it is reported and tried again. */
  async #keep(): Promise<void> {
    if (!this.#unkept || !this.#taken) return;
    const { copy, feed } = this.#options;
    const { manifest, fresh } = this.#unkept;
    const digests = [...manifest.values()];
    try {
      await copy.keep(this.#taken.head, digests, fresh ?? (await feed.segments(digests)));
      this.#unkept = undefined;
      this.#keepFailed = false;
    } catch (error) {
      if (!this.#keepFailed) this.#emit({ name: 'config.failed', error });
      this.#keepFailed = true;
      this.#unkept = { manifest, fresh: undefined };
    }
  }

  async #report(): Promise<void> {
    const { epoch, seq } = this.#taken?.head ?? { epoch: 0, seq: 0 };
    await this.#options.feed.report(this.#options.gateway, { epoch, seq, broken: this.#broken });
  }

  #confirm(): void {
    if (this.#trouble) this.#emit({ name: 'config.taken_again' });
    this.#trouble = undefined;
    this.#faults = [];
    this.#broken = [];
    this.#confirmedAt = Date.now();
    this.#confirmed = true;
  }

  /** The configuration in force stays. Reports the reason once. */
  #leave(why: NotTaken, segments?: readonly string[]): false {
    if (this.#trouble !== why) this.#emit({ name: 'config.not_taken', why, ...(segments && { segments }) });
    this.#trouble = why;
    return false;
  }

  #reject(found: readonly Fault[]): false {
    if (JSON.stringify(found) !== JSON.stringify(this.#faults)) this.#emit({ name: 'config.rejected', faults: found });
    this.#faults = found;
    this.#trouble = 'rejected';
    return false;
  }
}
