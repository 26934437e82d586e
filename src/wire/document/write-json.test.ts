import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from './json.ts';
import { finish } from './steps.ts';
import { writeJson } from './write-json.ts';

const written = (value: Json): string => finish(writeJson(value));

test('a value is written as JSON.stringify writes it', () => {
  const check = (value: unknown): void => {
    expect(written(value as Json)).toBe(JSON.stringify(value));
  };
  fc.assert(fc.property(fc.jsonValue(), check));
});

test.each(['x', '\n', '"', 'é', '😀', '\ud83d'])('a long string of %j too', (sign) => {
  for (const before of ['', 'x']) {
    const text = before + sign.repeat(200_000);
    expect(written({ text, [sign]: [text, 1] })).toBe(JSON.stringify({ text, [sign]: [text, 1] }));
  }
});

test('members that say nothing are left out', () => {
  const value = { a: undefined, b: 1, c: undefined } as unknown as Json;
  expect(written(value)).toBe('{"b":1}');
});

test('a large value is written in steps', () => {
  let steps = 0;
  for (const writing = writeJson(Array.from({ length: 100_000 }, (_, at) => [at])); writing.next().done !== true;)
    steps += 1;
  expect(steps).toBeGreaterThan(100);
});
