import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatheredText } from './gathered-text.ts';

function gathered(pieces: readonly Buffer[]): GatheredText {
  const text = new GatheredText();
  for (const piece of pieces) text.add(piece);
  return text;
}

/** The bytes in pieces that end at these places. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

test('a text is the same in whatever pieces it comes', () => {
  const check = (text: string, places: readonly number[]): void => {
    const bytes = Buffer.from(text);
    const found = gathered(cut(bytes, places));
    expect(found.whole()).toBe(bytes.toString('utf8'));
    expect(found.isAscii).toBe(/^[\x20-\x7e]*$/.test(text));
  };
  const text = fc.array(fc.constantFrom('a', 'é', '€', '😀', '\ufeff')).map((parts) => parts.join(''));
  fc.assert(fc.property(text, fc.array(fc.nat(40), { maxLength: 6 }), check), { numRuns: 500 });
});

test('bytes are a text in pieces if they are one whole', () => {
  const check = (bytes: Uint8Array, places: readonly number[]): void => {
    let isText = true;
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    } catch {
      isText = false;
    }
    const whole = (): string => gathered(cut(Buffer.from(bytes), places)).whole();
    if (isText) expect(whole()).toBe(Buffer.from(bytes).toString('utf8'));
    else expect(whole).toThrow('not valid UTF-8');
  };
  const byte = fc.constantFrom(
    0x41,
    0x80,
    0xbf,
    0xc0,
    0xc3,
    0xa9,
    0xe2,
    0x82,
    0xac,
    0xed,
    0xf0,
    0x9f,
    0x98,
    0xf5,
    0xff,
  );
  const bytes = fc.array(byte, { maxLength: 8 }).map((all) => Uint8Array.from(all));
  fc.assert(fc.property(bytes, fc.array(fc.nat(8), { maxLength: 4 }), check), { numRuns: 3000 });
});

test('nothing is an empty text', () => {
  expect(gathered([]).whole()).toBe('');
});
