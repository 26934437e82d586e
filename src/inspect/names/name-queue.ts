import type { Match } from '../match.ts';

/** A stretch of a text, and where it begins. */
export interface Piece {
  readonly text: string;
  readonly offset: number;
}

/** A piece that an answer is waited for. It may stand in several lines and is asked about once. */
export interface Waiting extends Piece {
  asked: boolean;
  /** Whether any caller still waits. */
  readonly wanted: () => boolean;
  readonly resolve: (matches: readonly Match[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What one call waits for, in order. */
export interface Line {
  add(pieces: readonly Waiting[]): void;
  /** The caller no longer waits: questions that only this line asks are dropped, and a running one is cancelled. */
  leave(): void;
}

/** The names in each text. */
type Ask = (texts: readonly string[], signal: AbortSignal) => Promise<readonly (readonly Match[])[]>;

/** Of one question to the model: a quarter of a second of its time, which is what a call waits for those before it. */
export const BATCH = { texts: 4096, characters: 100_000 } as const;

interface Place {
  readonly waiting: Waiting[];
  /** How many of them are done with. */
  done: number;
  /** Characters that all had been asked about when this line's last piece was, had every line had the same share. */
  at: number;
}

/**
 * Places of calls at the model, one question at a time; texts that arrive meanwhile form the next question. Each
 * line has the same share of characters, so that a short text is not behind a long one, and none waits for ever
 * (self-clocked fair queueing, Golestani 1994).
 */
export class NameQueue {
  readonly #ask: Ask;
  readonly #lines = new Set<Place>();
  #now = 0;
  #busy = false;
  /** The question that is being answered. */
  #open: { readonly batch: readonly Waiting[]; readonly stop: AbortController } | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  open(): Line {
    const place: Place = { waiting: [], done: 0, at: this.#now };
    return {
      add: (pieces) => {
        for (const one of pieces) place.waiting.push(one);
        this.#lines.add(place);
        this.#start();
      },
      leave: () => {
        this.#lines.delete(place);
        const { batch, stop } = this.#open ?? {};
        if (batch?.every(({ wanted }) => !wanted())) stop?.abort();
      },
    };
  }

  #start(): void {
    if (this.#busy) return;
    this.#busy = true;
    // Texts of the same round of the event loop are asked together.
    queueMicrotask(() => void this.#work());
  }

  async #work(): Promise<void> {
    for (let batch = this.#next(); batch.length > 0; batch = this.#next()) {
      const stop = new AbortController();
      this.#open = { batch, stop };
      try {
        const found = await this.#ask(
          batch.map(({ text }) => text),
          stop.signal,
        );
        for (const [index, { offset, resolve }] of batch.entries()) resolve(moved(found[index] ?? [], offset));
      } catch (thrown) {
        for (const { reject } of batch) reject(thrown);
      }
    }
    this.#open = undefined;
    this.#busy = false;
  }

  #next(): readonly Waiting[] {
    const batch: Waiting[] = [];
    let characters = 0;
    while (batch.length < BATCH.texts) {
      const first = this.#first();
      if (!first) break;
      const { place, piece } = first;
      characters += piece.text.length;
      if (batch.length > 0 && characters > BATCH.characters) break;
      this.#now = place.at += piece.text.length;
      place.done += 1;
      piece.asked = true;
      batch.push(piece);
    }
    return batch;
  }

  /** The piece that would be through first if all lines were asked about at once. */
  #first(): { readonly place: Place; readonly piece: Waiting } | undefined {
    let first: { readonly place: Place; readonly piece: Waiting; readonly through: number } | undefined;
    for (const place of this.#lines) {
      const piece = headOf(place);
      if (!piece) {
        this.#lines.delete(place);
        continue;
      }
      const through = place.at + piece.text.length;
      if (!first || through < first.through) first = { place, piece, through };
    }
    return first;
  }
}

/** The first that another line has not asked about meanwhile. */
function headOf(place: Place): Waiting | undefined {
  while (place.waiting[place.done]?.asked) place.done += 1;
  return place.waiting[place.done];
}

function moved(matches: readonly Match[], offset: number): readonly Match[] {
  if (offset === 0) return matches;
  return matches.map(({ start, end, category }) => ({ start: start + offset, end: end + offset, category }));
}
