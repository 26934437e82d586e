import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { LocalModels } from '#/ports/local-models.ts';
import type { Match } from '../match.ts';
import { mayHoldName, type NameSearch } from './detect-names.ts';
import { BATCH, NameQueue, type Line, type Piece, type Waiting } from './name-queue.ts';

/** Matches that are remembered; a turn of a conversation has a handful. */
const MOST_REMEMBERED = 200_000;
/** A text that a caller waits for. */
interface Question {
  readonly hash: string;
  readonly pieces: readonly Waiting[];
  readonly found: Promise<readonly Match[]>;
  /** How many calls wait. */
  calls: number;
}

/**
 * Texts that come while the model is busy wait for it, and calls are served in turn. Results are remembered by the
 * text's keyed hash, never the text, so that earlier turns of a conversation are not asked about again.
 */
export function createNameSearch(models: Pick<LocalModels, 'names'>): NameSearch {
  const key = randomBytes(32);
  const known = new LRUCache<string, readonly Match[]>({
    maxSize: MOST_REMEMBERED,
    sizeCalculation: (matches) => matches.length + 1,
  });
  const asking = new Map<string, Question>();
  const turns = new NameQueue((texts, signal) => models.names(texts, signal));
  const forget = (question: Question): void => {
    if (asking.get(question.hash) === question) asking.delete(question.hash);
  };
  const begin = (hash: string, text: string): Question => {
    const pieces = piecesOf(text).map((piece) => waiting(piece, () => question.calls > 0));
    const found = Promise.all(pieces.map(({ matches }) => matches)).then((parts) => {
      const matches = parts.flat();
      known.set(hash, matches);
      return matches;
    });
    const question: Question = { hash, pieces, found, calls: 0 };
    const done = (): void => forget(question);
    found.then(done, done);
    asking.set(hash, question);
    return question;
  };
  const once = async (text: string, line: Line, questions: Question[]): Promise<readonly Match[]> => {
    if (!mayHoldName(text)) return [];
    const hash = createHmac('sha256', key).update(text).digest('base64');
    const found = known.get(hash);
    if (found) return found;
    const question = asking.get(hash) ?? begin(hash, text);
    question.calls += 1;
    questions.push(question);
    line.add(question.pieces);
    return question.found;
  };
  return {
    async find(texts, signal) {
      signal?.throwIfAborted();
      const line = turns.open();
      const questions: Question[] = [];
      const { promise: gone, reject } = Promise.withResolvers<never>();
      const leave = (): void => reject(signal?.reason);
      signal?.addEventListener('abort', leave, { once: true });
      try {
        return await Promise.race([Promise.all(texts.map((text) => once(text, line, questions))), gone]);
      } finally {
        signal?.removeEventListener('abort', leave);
        for (const question of questions) if (--question.calls === 0) forget(question);
        line.leave();
      }
    },
  };
}

function waiting(piece: Piece, wanted: () => boolean): Waiting & { readonly matches: Promise<readonly Match[]> } {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Match[]>();
  return { ...piece, matches: promise, asked: false, wanted, resolve, reject };
}

/** A longer text is cut between words: its pieces are found through one after the other. */
function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let offset = 0;
  while (text.length - offset > BATCH.characters) {
    const space = text.slice(offset, offset + BATCH.characters).search(/\s\S*$/);
    const length = space > 0 ? space : BATCH.characters;
    pieces.push({ text: text.slice(offset, offset + length), offset });
    offset += length;
  }
  return [...pieces, { text: text.slice(offset), offset }];
}
