import type { Disguise } from './disguises.ts';

/**
 * Characters that look like a letter or digit of ASCII, or like nothing, and that detectors do not fold by themselves: a
 * raised digit may be a footnote, so it is read as a digit in a view in addition to the text itself.
 */
const HIDDEN = new RegExp(
  [
    // A digit on a key, before its signs are taken for marks.
    '\\d\\ufe0f?\\u20e3',
    // Control characters that are no blanks, marks that combine with the letter before, signs that enclose.
    '[\\u0000-\\u0008\\u000b\\u000e-\\u001f\\u007f-\\u009f\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]+',
    // Raised, lowered, circled, parenthesized, script and phonetic forms.
    '[²³¹ʰ-ʸˡ-ˣᴬ-ᵪⁱ⁰-₎ₐ-ₜ℀-ⅉ①-⓿❶-➓]',
    // The same beyond the first plane: squared and negative letters, regional indicators, segmented digits, tags.
    '\\ud83c[\\udd10-\\udd89\\udde6-\\uddff]|\\ud83e[\\udff0-\\udff9]|\\udb40[\\udc20-\\udc7e]',
  ].join('|'),
  'g',
);
/** The stop of East Asian writing, within what may be an address. */
const STOP = /(?<=@[\w.。｡-]{1,100})[。｡](?=[A-Za-z0-9])/g;

/** What characters that hide among letters and digits stand for. */
export function lookalikeCharactersIn(text: string): readonly Disguise[] {
  const found: Disguise[] = [];
  for (const { 0: written, index } of text.matchAll(HIDDEN)) {
    const read = plainOf(written);
    if (read !== undefined) found.push({ start: index, end: index + written.length, read });
  }
  if (!/[。｡]/.test(text)) return found;
  const stops = Array.from(text.matchAll(STOP), ({ index }) => ({ start: index, end: index + 1, read: '.' }));
  return stops.length === 0 ? found : [...found, ...stops].sort((a, b) => a.start - b.start);
}

/** The zero before each row of nine digits, and the first letter of each row of 26, that no compatible form tells. */
const NUMBERED: readonly (readonly [first: number, last: number, as: number])[] = [
  [0x2474, 0x247c, 0x31],
  [0x2488, 0x2490, 0x31],
  [0x249c, 0x24b5, 0x61],
  [0x24f5, 0x24fd, 0x31],
  [0x24ff, 0x24ff, 0x30],
  [0x2776, 0x277e, 0x31],
  [0x2780, 0x2788, 0x31],
  [0x278a, 0x2792, 0x31],
  [0x1f110, 0x1f129, 0x41],
  [0x1f130, 0x1f149, 0x41],
  [0x1f150, 0x1f169, 0x41],
  [0x1f170, 0x1f189, 0x41],
  [0x1f1e6, 0x1f1ff, 0x41],
  [0xe0020, 0xe007e, 0x20],
];

function plainOf(written: string): string | undefined {
  const point = written.codePointAt(0) ?? 0;
  if (written.length > 1 && point < 0x3a && point >= 0x30) return written.charAt(0);
  if (isNothing(point)) return '';
  for (const [first, last, as] of NUMBERED) {
    if (point >= first && point <= last) return String.fromCodePoint(as + point - first);
  }
  const plain = written.normalize('NFKC');
  return plain.length === 1 && plain !== written && /[\w@.+-]/.test(plain) ? plain : undefined;
}

function isNothing(point: number): boolean {
  return point < 0xa0 || (point >= 0x300 && point <= 0x36f) || isCombining(point);
}

function isCombining(point: number): boolean {
  return (
    (point >= 0x1ab0 && point <= 0x1aff) ||
    (point >= 0x1dc0 && point <= 0x1dff) ||
    (point >= 0x20d0 && point <= 0x20ff) ||
    (point >= 0xfe20 && point <= 0xfe2f)
  );
}
