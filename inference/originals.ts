/** A stretch of a text, UTF-16 offsets. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where an original was found, and which. */
export interface Found extends Span {
  readonly original: string;
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
export function findOriginals(text: string, originals: readonly string[]): readonly Found[] {
  const bare = strip(text);
  return originals.flatMap((original) => {
    const wanted = bareOf(original);
    return wanted.length < 2 ? [] : occurrences(bare, wanted).map((span) => ({ ...span, original }));
  });
}

/** What of a text counts when originals are looked for: its letters and digits, lower case and without accents. */
export function bareOf(text: string): string {
  return strip(text).text;
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

/** Most text is of these: asking for each what it is would take most of the time. */
const ASCII = Array.from({ length: 128 }, (_, code) => lettersOf(String.fromCharCode(code)));

function strip(text: string): Bare {
  let bare = '';
  const from: number[] = [];
  const boundary: boolean[] = [];
  let apart = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const letters = code < 128 ? (ASCII[code] ?? '') : lettersOf(text.charAt(at));
    if (letters === '') apart ||= code < 128 || !/\p{M}/u.test(text.charAt(at));
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

function lettersOf(character: string): string {
  return character
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}
