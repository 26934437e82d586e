const NONE: readonly number[] = Object.freeze([]);
const NOT_PLAIN = /[^\t\n\r -~]/g;
/** Control characters of ASCII, in classes of few rows of sixteen each, so that the engine looks at many characters at once. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b\u000e\u000f\u007f]/;
// oxlint-disable-next-line no-control-regex -- as above
const MORE_CONTROLS = /[\u0010-\u001f]/;

/** 1: a character that `hidden-characters.ts` reads; 2: the first half of what may be one. */
const HIDING = new Uint8Array(0x10000);
for (const [first, last] of [
  [0x00, 0x08],
  [0x0b, 0x0b],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0xb2, 0xb3],
  [0xb9, 0xb9],
  [0x2b0, 0x2b8],
  [0x2e1, 0x2e3],
  [0x300, 0x36f],
  [0x1ab0, 0x1aff],
  [0x1d2c, 0x1d6a],
  [0x1dc0, 0x1dff],
  [0x2070, 0x209c],
  [0x20d0, 0x20ff],
  [0x2100, 0x2145],
  [0x2460, 0x24ff],
  [0x2776, 0x2793],
  [0x3002, 0x3002],
  [0xfe20, 0xfe2f],
  [0xff61, 0xff61],
] as const) {
  HIDING.fill(1, first, last + 1);
}
for (const lead of [0xd83c, 0xd83e, 0xdb40]) HIDING[lead] = 2;

function isPlain(text: string): boolean {
  return Buffer.byteLength(text) === text.length && !CONTROLS.test(text) && !MORE_CONTROLS.test(text);
}

/** Where characters stand that read as others, or as nothing; none in plain ASCII, which is told at once. */
export function hidingIn(text: string): readonly number[] {
  if (isPlain(text)) return NONE;
  const found: number[] = [];
  NOT_PLAIN.lastIndex = 0;
  while (NOT_PLAIN.test(text)) {
    let at = NOT_PLAIN.lastIndex - 1;
    for (let code = text.charCodeAt(at); code > 126 || HIDING[code] === 1; code = text.charCodeAt(++at)) {
      if (HIDING[code] !== 0 && isHiding(text, at, HIDING[code])) found.push(at);
    }
    NOT_PLAIN.lastIndex = Math.max(at, NOT_PLAIN.lastIndex);
  }
  return found;
}

function isHiding(text: string, at: number, kind: number | undefined): boolean {
  if (kind === 1) return true;
  const point = text.codePointAt(at) ?? 0;
  return (
    (point >= 0x1f110 && point <= 0x1f189) ||
    (point >= 0x1f1e6 && point <= 0x1f1ff) ||
    (point >= 0x1fbf0 && point <= 0x1fbf9) ||
    (point >= 0xe0020 && point <= 0xe007e)
  );
}
