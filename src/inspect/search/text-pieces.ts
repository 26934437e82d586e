import type { Search } from '../detection.ts';

/** Code units, and texts, that a thread is handed at a time. */
const PIECE = 1024 * 1024;
const MOST_TEXTS = 4096;

/** Some of a row of texts. `goesOn`: the first is more of the last one before. */
interface Piece {
  readonly texts: readonly string[];
  readonly goesOn: boolean;
}

/** Whether a search is more than is handed over at once. */
export function isHandedInPieces({ texts }: Search, chars: number): boolean {
  return chars > PIECE || texts.length > MOST_TEXTS;
}

/** A row of texts in pieces. */
export function* piecesOf(all: readonly string[]): Generator<Piece> {
  let texts: string[] = [];
  let goesOn = false;
  let left = PIECE;
  for (const text of all) {
    let at = 0;
    while (text.length - at > left) {
      texts.push(text.slice(at, at + left));
      at += left;
      yield { texts, goesOn };
      texts = [];
      goesOn = true;
      left = PIECE;
    }
    texts.push(text.slice(at));
    left -= text.length - at;
    if (texts.length < MOST_TEXTS) continue;
    yield { texts, goesOn };
    texts = [];
    goesOn = false;
    left = PIECE;
  }
  if (texts.length > 0) yield { texts, goesOn };
}

/** Puts a piece to those that came before it. */
export function putTogether(all: string[], { texts, goesOn }: Piece): void {
  const [first = '', ...others] = texts;
  if (goesOn) all[all.length - 1] += first;
  else if (texts.length > 0) all.push(first);
  for (const text of others) all.push(text);
}
