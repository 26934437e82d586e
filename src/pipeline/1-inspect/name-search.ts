import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { LocalModels } from '#ports/local-models.ts';
import type { Span } from './detector.ts';

/** Finds names in texts, asking the local model as little as can be. */
export interface NameSearch {
  /** The names in each text. Rejects with `ModelFault`. */
  find(texts: readonly string[]): Promise<readonly (readonly Span[])[]>;
}

/** Spans that are remembered; a turn of a conversation has a handful. */
const MOST_SPANS = 200_000;
/** Of one question to the model: about a second of its time. */
const BATCH = { texts: 4096, characters: 400_000 } as const;
/** A longer text is cut between words: its pieces are found through one after the other. */
const MOST_CHARACTERS = 100_000;
const LETTER = /\p{L}/u;
/** Names of members, mostly those of the format (`criteria`, `tool_choice`, `maxTokens`): taken for names of people, they break it. */
const IDENTIFIER = /^[a-z][a-z0-9]*(?:[_.-][a-z0-9]+|[A-Z][a-z0-9]*)*$/;

/**
 * Texts that come while the model is busy wait for it together, whatever request they are of. What was found in a text is
 * remembered by its keyed hash, never the text, so that earlier turns of a conversation are not asked about again.
 */
export function createNameSearch(models: Pick<LocalModels, 'names'>): NameSearch {
  const key = randomBytes(32);
  const known = new LRUCache<string, readonly Span[]>({
    maxSize: MOST_SPANS,
    sizeCalculation: (spans) => spans.length + 1,
  });
  const asking = new Map<string, Promise<readonly Span[]>>();
  const queue = new Queue(models);
  const once = async (text: string): Promise<readonly Span[]> => {
    if (!LETTER.test(text) || IDENTIFIER.test(text)) return [];
    const hash = createHmac('sha256', key).update(text).digest('base64');
    const found = known.get(hash) ?? asking.get(hash);
    if (found) return found;
    const asked = Promise.all(piecesOf(text).map((piece) => queue.ask(piece))).then((parts) => {
      const spans = parts.flat();
      known.set(hash, spans);
      return spans;
    });
    asking.set(hash, asked);
    const forget = (): void => void asking.delete(hash);
    asked.then(forget, forget);
    return asked;
  };
  return { find: (texts) => Promise.all(texts.map(once)) };
}

/** A stretch of a text, and where it begins. */
interface Piece {
  readonly text: string;
  readonly offset: number;
}

function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let offset = 0;
  while (text.length - offset > MOST_CHARACTERS) {
    const space = text.slice(offset, offset + MOST_CHARACTERS).search(/\s\S*$/);
    const length = space > 0 ? space : MOST_CHARACTERS;
    pieces.push({ text: text.slice(offset, offset + length), offset });
    offset += length;
  }
  return [...pieces, { text: text.slice(offset), offset }];
}

interface Waiting extends Piece {
  readonly resolve: (spans: readonly Span[]) => void;
  readonly reject: (error: unknown) => void;
}

/** One question at a time; what comes meanwhile is the next. */
class Queue {
  readonly #models: Pick<LocalModels, 'names'>;
  #waiting: Waiting[] = [];
  #busy = false;

  constructor(models: Pick<LocalModels, 'names'>) {
    this.#models = models;
  }

  ask(piece: Piece): Promise<readonly Span[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Span[]>();
    this.#waiting.push({ ...piece, resolve, reject });
    if (!this.#busy) {
      this.#busy = true;
      // What is asked in the same turn of the loop goes along.
      queueMicrotask(() => void this.#work());
    }
    return promise;
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#next();
      try {
        const { signal } = new AbortController();
        const found = await this.#models.names(
          batch.map(({ text }) => text),
          signal,
        );
        for (const [index, { offset, resolve }] of batch.entries()) resolve(moved(found[index] ?? [], offset));
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown);
      }
    }
    this.#busy = false;
  }

  #next(): readonly Waiting[] {
    let characters = 0;
    const end = this.#waiting.findIndex(({ text }, index) => {
      characters += text.length;
      return index > 0 && (characters > BATCH.characters || index >= BATCH.texts);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }
}

function moved(spans: readonly Span[], offset: number): readonly Span[] {
  if (offset === 0) return spans;
  return spans.map(({ start, end, category }) => ({ start: start + offset, end: end + offset, category }));
}
