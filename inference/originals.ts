/** A stretch of a text, UTF-16 offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** As many letters and digits are not there by chance: found within a word too. */
const LONG = 8;

/** Letters and digits of a text, lower case and without accents, each with where it came from. */
interface Bare {
  readonly text: string;
  readonly from: readonly number[];
  /** Whether something else stood before the letter at this index; at the end it is true. */
  readonly boundary: readonly boolean[];
}

/**
 * Finds originals in text as it was recognized: blanks, punctuation, case and accents don't count. One that is short
 * must be whole words; one of a single letter or digit is not looked for.
 */
export function findOriginals(text: string, originals: readonly string[]): readonly Span[] {
  const bare = strip(text);
  return originals.flatMap((original) => {
    const wanted = strip(original).text;
    return wanted.length < 2 ? [] : occurrences(bare, wanted);
  });
}

function occurrences(bare: Bare, wanted: string): readonly Span[] {
  const spans: Span[] = [];
  for (let at = bare.text.indexOf(wanted); at >= 0; at = bare.text.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if (wanted.length < LONG && !(bare.boundary[at] && bare.boundary[end])) continue;
    spans.push({ start: bare.from[at] ?? 0, end: (bare.from[end - 1] ?? 0) + 1 });
  }
  return spans;
}

function strip(text: string): Bare {
  let bare = '';
  const from: number[] = [];
  const boundary: boolean[] = [];
  let apart = true;
  for (let at = 0; at < text.length; at++) {
    const letters = text
      .charAt(at)
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, '');
    if (letters === '') apart ||= !/\p{M}/u.test(text.charAt(at));
    for (const letter of letters) {
      bare += letter;
      from.push(at);
      boundary.push(apart);
      apart = false;
    }
  }
  boundary.push(true);
  return { text: bare, from, boundary };
}
