import { VALUE, type AddressTracker } from './address-tracker.ts';

const SPECIAL = /["\\]/g;
const ESCAPE = /\\(?:u[0-9a-f]{4}|[^u])/iy;
/** Longest escape sequence. */
const LONGEST = 6;

/** Follows JSON source that comes in pieces: to the tracker, every string of it is a value of its own. */
export class JsonFollower implements Pick<AddressTracker, 'feed' | 'around'> {
  readonly #tracker: AddressTracker;
  #inString = false;
  #carry = '';

  constructor(tracker: AddressTracker) {
    this.#tracker = tracker;
  }

  feed(piece: string): void {
    const source = this.#carry + piece;
    this.#carry = '';
    let from = 0;
    for (;;) {
      SPECIAL.lastIndex = from;
      const at = SPECIAL.exec(source)?.index;
      this.#tracker.feed(source.slice(from, at));
      if (at === undefined) return;
      if (source[at] === '"') {
        this.#inString = !this.#inString;
        this.#tracker.reset(this.#inString ? VALUE : ' ');
        from = at + 1;
        continue;
      }
      ESCAPE.lastIndex = at;
      const escape = ESCAPE.exec(source)?.[0];
      if (escape === undefined && source.length - at < LONGEST) {
        this.#carry = source.slice(at);
        return;
      }
      this.#tracker.feed(escape === undefined ? '\\' : read(escape));
      from = at + (escape?.length ?? 1);
    }
  }

  around(): ReturnType<AddressTracker['around']> {
    return this.#tracker.around();
  }
}

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function read(escape: string): string {
  const letter = escape[1]!;
  return letter === 'u' ? String.fromCharCode(Number.parseInt(escape.slice(2), 16)) : (LETTERS[letter] ?? letter);
}
