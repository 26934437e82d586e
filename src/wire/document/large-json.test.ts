import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotAJsonObject, readDocument, type WireDocument } from './document.ts';
import { readLarge } from './large-json.ts';
import { isLarge } from './large-text.ts';
import { AmbiguousJson, TooManyValues } from './scan.ts';
import { finish } from './steps.ts';

const read = (text: string): WireDocument => finish(readLarge('chat', text));
/** Longer than a step reads. */
const LONG = 70_000;

function outcome(reader: (text: string) => WireDocument, text: string): unknown {
  try {
    const { body, root } = reader(text);
    return { body, root };
  } catch (thrown) {
    return (thrown as Error).constructor.name;
  }
}

const json = fc.oneof(
  fc.json({ noUnicodeString: false, maxDepth: 5 }),
  fc.json({ maxDepth: 3 }).map((text) => JSON.stringify(JSON.parse(text), undefined, 2)),
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('-0', '1e999', '-1.5E+3', '0.10', '"\\ud800"', '"\\u0041\\/\\b"', '{"__proto__":1}', '{"1":2,"0":1}'),
);

describe('a large text', () => {
  test('is read as JSON.parse reads it, with every value in its place', () => {
    const check = (inner: string): void => {
      const text = `{"a":${inner},\n"b": [1, ${inner}]}`;
      expect(read(text)).toEqual(readDocument('chat', text));
    };
    fc.assert(fc.property(json, check), { numRuns: 400 });
  });

  test('is refused where JSON.parse refuses it', () => {
    const spoilt = fc
      .tuple(
        json,
        fc.nat(),
        fc.constantFrom('', '"', '\\', ',', ':', '}', ']', '{', '0', '-', 'e', '\n', '\u00a0', '\u0001', '\\u12'),
      )
      .map(([inner, at, sign]) => {
        const text = `{"a":${inner},"b":[true,null,${inner}]}`;
        const place = at % (text.length + 1);
        return text.slice(0, place) + sign + text.slice(place + (at % 3));
      });
    // A text with two faults may be refused for either: the one is found first by reading on, the other by parsing all.
    const check = (text: string): void => {
      const refusal = outcome((one) => readDocument('chat', one), text);
      if (refusal === NotAJsonObject.name) expect([refusal, AmbiguousJson.name]).toContain(outcome(read, text));
      else expect(outcome(read, text)).toEqual(refusal);
    };
    fc.assert(fc.property(spoilt, check), { numRuns: 3000 });
    check('{"a":1,"a":2');
  });

  test.each([
    ['plain', 'x'.repeat(LONG)],
    ['with an escape at its end', `${'x'.repeat(LONG)}\\n`],
    ['of escapes', '\\u00e9'.repeat(LONG)],
    ['of backslashes', '\\\\'.repeat(LONG + 1)],
    ['of quotation marks', '\\"'.repeat(LONG)],
    ['of halves of characters', '\\ud83d\\ude00'.repeat(LONG)],
    ['of what is not ASCII', 'é😀'.repeat(LONG)],
  ])('may have a long string %s', (_what, source) => {
    const text = `{"k":"${source}","${source.slice(0, 600)}":"${source}"}`;
    const { body, root } = read(text);
    const whole = readDocument('chat', text);
    expect(body).toEqual(whole.body);
    expect(root).toEqual(whole.root);
  });

  test.each([
    '"\u0001"',
    `"${'x'.repeat(LONG)}\n"`,
    `"${'x'.repeat(LONG)}`,
    `"${'\\n'.repeat(LONG)}\\x"`,
    `"${'x'.repeat(65_535)}\\u12"`,
  ])('may not have an invalid string', (string) => {
    expect(() => read(`{"a":${string}}`)).toThrow(NotAJsonObject);
  });

  test('is read in steps, however it is made', () => {
    const texts = [
      `{"a":"${'x'.repeat(1_000_000)}"}`,
      `{"a":"${'\\n'.repeat(500_000)}"}`,
      `{"a":${' '.repeat(1_000_000)}1}`,
      `{"a":[${'[],'.repeat(100_000)}[]]}`,
      `{${Array.from({ length: 20_000 }, (_, at) => `"m${at}":1`).join(',')}}`,
    ];
    for (const text of texts) {
      let steps = 0;
      for (const reading = readLarge('chat', text); reading.next().done !== true;) steps += 1;
      expect(steps).toBeGreaterThan(10);
    }
  });

  test('may not have more values than are read', () => {
    const list = (value: string, count: number): string => `{"a":[${Array(count).fill(value).join(',')}]}`;
    expect(read(list('0', 200_000)).body['a']).toHaveLength(200_000);
    for (const text of [list('0', 250_000), list('""', 150_000), list('{"a":1}', 50_000)]) {
      expect(() => read(text)).toThrow(TooManyValues);
    }
    expect(() => read(`{"${'n'.repeat(LONG)}":1}`)).toThrow(TooManyValues);
    expect(() => read(`{${Array.from({ length: 20_001 }, (_, at) => `"m${at}":1`).join(',')}}`)).toThrow(TooManyValues);
    expect(() => read(`{"a":${'1'.repeat(5000)}}`)).toThrow(TooManyValues);
  });

  test('may not have an object of more members than are listed at once', () => {
    const members = (count: number): string => Array.from({ length: count }, (_, at) => `"m${at}":1`).join(',');
    expect(Object.keys(read(`{${members(20_000)}}`).body)).toHaveLength(20_000);
    expect(() => read(`{"a":{${members(20_001)}}}`)).toThrow(TooManyValues);
  });

  test('may not be nested deeper, or name a member twice', () => {
    const nested = (depth: number): string => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(read(nested(256))).toEqual(readDocument('chat', nested(256)));
    expect(() => read(nested(257))).toThrow(AmbiguousJson);
    expect(() => read(nested(2_000_000))).toThrow(AmbiguousJson);
    expect(() => read('{"a":{"b":1,"\\u0062":2}}')).toThrow(AmbiguousJson);
    expect(() => read('{"a":{"__proto__":1,"__proto__":2}}')).toThrow(AmbiguousJson);
    expect(() => read('[1]')).toThrow(NotAJsonObject);
  });
});

test('texts are large beyond what is read at once', () => {
  expect([isLarge('x'.repeat(65_536)), isLarge('x'.repeat(65_537))]).toEqual([false, true]);
});
