import type { ConfigKeys } from '#/config/published/config-keys.ts';
import { readPart, type Part } from '#/config/published/contents.ts';
import { readHead, signHead, type Manifest } from '#/config/published/manifest.ts';
import { comparePositions } from '#/config/published/position.ts';
import { readSegment, toSegment } from '#/config/published/segment.ts';
import type { ConfigPublisher, Position, PublishedHead } from '#/config/published/config-store.ts';

/** Texts of segments by name; that of an empty list is for a segment that is to go. */
export type Texts = ReadonlyMap<string, string>;

/** Another controller has published in a later term: this one leads no more. */
export class Fenced extends Error {
  override readonly name = 'Fenced';
  readonly at: Position;

  constructor(at: Position) {
    super('a later controller has published');
    this.at = at;
  }
}

const MOST_TRIES = 5;

/** What this controller has published, and publishes next: segments that did not change are not written again. */
export class Publication {
  readonly #store: ConfigPublisher;
  readonly #keys: ConfigKeys;
  readonly #segments = new Map<string, { readonly digest: string; readonly bytes: Uint8Array }>();
  readonly #onLost: () => void;
  #head: PublishedHead | undefined;
  #changed = false;

  /** `onLost`: the store was found without what this controller had published. */
  constructor(store: ConfigPublisher, keys: ConfigKeys, onLost: () => void = () => {}) {
    this.#store = store;
    this.#onLost = onLost;
    this.#keys = keys;
  }

  /** The publication in force, if this controller made it. */
  get head(): PublishedHead | undefined {
    return this.#head;
  }

  /** Bytes of all segments, as they are stored. */
  get bytes(): number {
    return [...this.#segments.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** Names of all segments. */
  get names(): readonly string[] {
    return [...this.#segments.keys()];
  }

  /** Whether this was published in this term. */
  isPublished(epoch: number): boolean {
    return !this.#changed && this.#head?.epoch === epoch;
  }

  /** Takes over texts, to be published next. */
  set(texts: Texts): void {
    for (const [name, text] of texts) {
      const segment = text === '[]' ? undefined : toSegment(text);
      if (this.#segments.get(name)?.digest === segment?.digest) continue;
      this.#changed = true;
      if (segment) this.#segments.set(name, segment);
      else this.#segments.delete(name);
    }
  }

  /** Publishes all segments in a term. Rejects with `Fenced`, or when the store cannot be reached. */
  async publish(epoch: number): Promise<PublishedHead> {
    const manifest: Manifest = new Map([...this.#segments].map(([name, { digest }]) => [name, digest]));
    let seq = this.#head?.epoch === epoch ? this.#head.seq + 1 : 1;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const head = signHead(epoch, seq, manifest, this.#keys);
      const result = await this.#store.publish(head);
      switch (result.kind) {
        case 'published':
          if (this.#head && (!result.over || comparePositions(result.over, this.#head) < 0)) this.#onLost();
          this.#head = head;
          this.#changed = false;
          return head;
        case 'missing':
          await this.put(result.digests);
          break;
        case 'stale':
          seq = result.at.seq + 1;
          break;
        case 'fenced':
          throw new Fenced(result.at);
        default:
          result satisfies never;
      }
    }
    throw new Error('the configuration cannot be published: the store keeps losing it');
  }

  /** Writes segments of this publication; other digests are no longer used. */
  async put(digests: readonly string[]): Promise<void> {
    const wanted = new Set(digests);
    const found = [...this.#segments.values()].filter(({ digest }) => wanted.has(digest));
    if (found.length > 0) await this.#store.put(new Map(found.map(({ digest, bytes }) => [digest, bytes])));
  }

  /** The publication of an earlier controller that is in force, as far as it can be read: parts by segment name. */
  async readEarlier(): Promise<ReadonlyMap<string, Part>> {
    const head = await this.#store.head();
    const manifest = head && readHead(head, this.#keys);
    const parts = new Map<string, Part>();
    if (!manifest) return parts;
    const found = await this.#store.segments([...manifest.values()]);
    for (const [name, digest] of manifest) {
      const text = readSegment(digest, found.get(digest));
      const part = text === undefined ? undefined : readPart(name, text);
      if (part) parts.set(name, part);
    }
    return parts;
  }
}
