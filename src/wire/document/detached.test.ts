import fc from 'fast-check';
import { expect, test } from 'vitest';
import { detached } from './detached.ts';
import type { JsonObject } from './json.ts';
import { finish } from './steps.ts';

test('a copy says the same, and shares nothing', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
      const copy = finish(detached(object as JsonObject));
      expect(copy).toEqual(object);
      expect(JSON.stringify(copy)).toBe(JSON.stringify(object));
    }),
  );
});

test('names of any kind, halves of characters and long texts stay as they are', () => {
  const long = `${'ü'.repeat(64 * 1024 - 1)}😀${'x'.repeat(100_000)}\ud800`;
  const object = JSON.parse(JSON.stringify({ long, list: [[], {}, null], 'a name of some length': 1 })) as JsonObject;
  const odd = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonObject;
  for (const one of [object, odd]) expect(JSON.stringify(finish(detached(one)))).toBe(JSON.stringify(one));
});

test('it is done in short steps', () => {
  const object = { tools: Array.from({ length: 20_000 }, (_, at) => ({ name: `tool of some length ${at}` })) };
  let steps = 0;
  const copying = detached(object);
  while (copying.next().done !== true) steps += 1;
  expect(steps).toBeGreaterThan(50);
});
