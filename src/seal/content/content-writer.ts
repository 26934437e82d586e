import { Idle } from '#/runtime/idle.ts';
import type { RetainedContent, RetainedItem } from '#/ports/retained-content.ts';
import type { ContentCipher } from './content-cipher.ts';

/** Retained content of a call: the request as the provider saw it, the answer, and the values of its tags. */
export interface CallContent {
  readonly v: 1;
  readonly surface: string;
  /** Family of `request` and `answer`. */
  readonly wire_format: string;
  readonly provider: string;
  readonly model: string;
  readonly stream: boolean;
  /** Of an answer from the cache: the call whose request and answer these are; null: its own. */
  readonly same_as: string | null;
  /** As it was sent: after inspection. */
  readonly request: string;
  /** As it came, before anything was restored; as much of it as came. */
  readonly answer: string;
  /** Tag -> original. */
  readonly tags: Readonly<Record<string, string>>;
  /** Parts that were truncated. */
  readonly truncated: readonly ('request' | 'answer')[];
}

/** Content that is to be kept. */
export interface ContentDraft {
  readonly callId: string;
  readonly organization: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly content: CallContent;
}

export interface ContentWriterDeps {
  readonly store: RetainedContent;
  readonly cipher: ContentCipher;
  readonly onFault: (error: unknown) => void;
  /** Called for each call whose content was dropped because memory was full. */
  readonly onDropped: (callId: string) => void;
  /** Characters kept while the store is down or slow. */
  readonly maxPending?: number;
}

/**
 * Encrypts content and writes it in batches, behind the answers. Content is no evidence: what finds no room, or is in
 * memory when the process dies, is lost, and no call waits or fails for it.
 */
export interface ContentWriter {
  enqueue(draft: ContentDraft): void;
  readonly pending: number;
  /** Resolves when all is written, or at the deadline: true when nothing is left. */
  drain(deadlineMs: number): Promise<boolean>;
  stop(): void;
}

const MAX_PENDING = 64 * 1024 * 1024;
const MAX_BATCH = 100;
const MAX_BATCH_LENGTH = 4 * 1024 * 1024;
const GATHER_MS = 50;
const RETRY_MS = [100, 500, 2000, 5000] as const;

export function createContentWriter(deps: ContentWriterDeps): ContentWriter {
  return new Writer(deps);
}

class Writer implements ContentWriter {
  readonly #deps: ContentWriterDeps;
  readonly #maxPending: number;
  readonly #idle = new Idle();
  readonly #queue: ContentDraft[] = [];
  #length = 0;
  #inFlight = 0;
  #running = false;
  #stopped = false;

  constructor(deps: ContentWriterDeps) {
    this.#deps = deps;
    this.#maxPending = deps.maxPending ?? MAX_PENDING;
  }

  get pending(): number {
    return this.#queue.length + this.#inFlight;
  }

  enqueue(draft: ContentDraft): void {
    const length = lengthOf(draft);
    if (this.#stopped || this.#length + length > this.#maxPending) return this.#deps.onDropped(draft.callId);
    this.#length += length;
    this.#queue.push(draft);
    if (this.#running) return;
    this.#running = true;
    setTimeout(() => void this.#run(), GATHER_MS);
  }

  async drain(deadlineMs: number): Promise<boolean> {
    if (this.pending === 0) return true;
    await this.#idle.wait(deadlineMs);
    return this.pending === 0;
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 && !this.#stopped) {
      const batch = this.#nextBatch();
      this.#inFlight = batch.length;
      await this.#write(batch.map((draft) => this.#encrypt(draft)));
      this.#inFlight = 0;
      for (const draft of batch) this.#length -= lengthOf(draft);
    }
    this.#running = false;
    this.#idle.rest();
  }

  #nextBatch(): ContentDraft[] {
    let count = 0;
    for (let length = 0; count < Math.min(MAX_BATCH, this.#queue.length); count++) {
      length += lengthOf(this.#queue[count]!);
      if (count > 0 && length > MAX_BATCH_LENGTH) break;
    }
    return this.#queue.splice(0, count);
  }

  #encrypt({ callId, organization, expiresAt, content }: ContentDraft): RetainedItem {
    const place = { organization, purpose: 'content', name: callId } as const;
    const encrypted = this.#deps.cipher.encrypt(place, Buffer.from(JSON.stringify(content)));
    return { callId, organization, expiresAt, encrypted };
  }

  async #write(items: readonly RetainedItem[]): Promise<void> {
    for (let attempt = 0; !this.#stopped; attempt++) {
      try {
        await this.#deps.store.put(items);
        return;
      } catch (error) {
        this.#deps.onFault(error);
        const wait = RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!;
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  }
}

function lengthOf({ content }: ContentDraft): number {
  let length = content.request.length + content.answer.length;
  for (const [tag, original] of Object.entries(content.tags)) length += tag.length + original.length;
  return length;
}
