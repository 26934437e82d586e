import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';
import { canonicalSteps } from './canonical-steps.ts';
import type { Json } from './json.ts';
import { finish } from './steps.ts';

test('writes the same as at once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(finish(canonicalSteps(value as Json))).toBe(canonicalJson(value));
    }),
  );
  const odd = JSON.parse('{"b":[1.0,-0,1e21],"a\\ud800":"\\udfff","__proto__":{"2":1,"10":2}}') as Json;
  expect(finish(canonicalSteps(odd))).toBe(canonicalJson(odd));
  expect(() => finish(canonicalSteps([JSON.parse('1e999') as Json]))).toThrow(RangeError);
});

test.each([
  ['many values', Array.from({ length: 100_000 }, (_, at) => at)],
  ['much text', Array.from({ length: 100 }, () => 'x'.repeat(64 * 1024))],
])('%s are written in short steps', (_, value) => {
  let steps = 0;
  const writing = canonicalSteps(value);
  while (writing.next().done !== true) steps += 1;
  expect(steps).toBeGreaterThanOrEqual(100);
});
