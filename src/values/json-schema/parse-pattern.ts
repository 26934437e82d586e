/** A pattern that cannot be used. The message follows the name of its field, and never holds the pattern. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

/** One character of those that it takes. */
export interface Atom {
  readonly kind: 'atom';
  takes(point: number): boolean;
}

/** What a regular expression consists of. */
export type Term =
  | Atom
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }
  | { readonly kind: 'sequence'; readonly terms: readonly Term[] }
  | { readonly kind: 'choice'; readonly terms: readonly Term[] }
  | { readonly kind: 'repeat'; readonly term: Term; readonly least: number; readonly most: number };

const MOST_CHARACTERS = 256;
const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y;
/** One character, written as it is, escaped, or as a class. */
const ATOM =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u\{[\da-fA-F]+\}|\\u[\da-fA-F]{4}|\\x[\da-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|./suy;
const GROUP = /\((?:\?:|\?<[\p{L}_$][\p{L}\p{N}_$]*>|(?!\?))/uy;

/** Reads a regular expression. Throws `PatternFault`. */
export function parsePattern(source: string): Term {
  if (source.length > MOST_CHARACTERS) throw new PatternFault(`must have at most ${MOST_CHARACTERS} characters`);
  try {
    // Reads it without running it.
    new RegExp(source, 'u');
  } catch {
    throw new PatternFault('must be a regular expression (ECMAScript, flag u)');
  }
  return new PatternReader(source).read();
}

/** Reads a source that is known to be a regular expression. */
class PatternReader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Term {
    const terms = [this.#sequence()];
    while (this.#source[this.#at] === '|') {
      this.#at++;
      terms.push(this.#sequence());
    }
    return terms.length === 1 ? terms[0]! : { kind: 'choice', terms };
  }

  #sequence(): Term {
    const terms: Term[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at]!)) {
      const term = this.#term();
      terms.push(this.#repeated(term));
    }
    return { kind: 'sequence', terms };
  }

  #term(): Term {
    const next = this.#source[this.#at];
    if (next === '^' || next === '$') {
      this.#at++;
      return { kind: next === '^' ? 'start' : 'end' };
    }
    if (next !== '(') return atomOf(this.#take(ATOM)![0]);
    if (!this.#take(GROUP)) throw unfollowable();
    const inner = this.read();
    this.#at++;
    return inner;
  }

  #repeated(term: Term): Term {
    const found = this.#take(QUANTIFIER);
    if (!found) return term;
    const [sign, least, comma, most] = found;
    if (least === undefined)
      return { kind: 'repeat', term, least: sign.startsWith('+') ? 1 : 0, most: sign.startsWith('?') ? 1 : Infinity };
    return {
      kind: 'repeat',
      term,
      least: Number(least),
      most: comma === undefined ? Number(least) : most ? Number(most) : Infinity,
    };
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found) this.#at = pattern.lastIndex;
    return found;
  }
}

function unfollowable(): PatternFault {
  return new PatternFault('must have no look-arounds, backreferences, word boundaries or modifiers');
}

/** One atom as V8 understands it, asked about one character at a time. */
function atomOf(source: string): Atom {
  if (/^\\[1-9kbB]/.test(source)) throw unfollowable();
  const native = new RegExp(`^${source}$`, 'u');
  const ascii = Uint8Array.from({ length: 128 }, (_one, point) => Number(native.test(String.fromCharCode(point))));
  return {
    kind: 'atom',
    takes: (point) => (point < 128 ? ascii[point] === 1 : native.test(String.fromCodePoint(point))),
  };
}
