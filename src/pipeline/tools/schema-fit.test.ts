import { expect, test } from 'vitest';
import { fitsNoLonger } from './schema-fit.ts';

const TAG = '«EMAIL_1»';
const of = (schema: object): object => ({ type: 'object', properties: { a: schema } });

test.each<[string, object, unknown, unknown, boolean]>([
  ['a text', of({ type: 'string' }), 'ada@example.com', TAG, false],
  ['a format', of({ type: 'string', format: 'email' }), 'ada@example.com', TAG, true],
  ['a pattern', of({ type: 'string', pattern: '^[^@]+@.+$' }), 'ada@example.com', TAG, true],
  ['a pattern that says nothing', of({ type: 'string', pattern: '.*' }), 'ada@example.com', TAG, false],
  ['a pattern of an unchanged text', of({ type: 'string', pattern: '^x' }), 'x', 'x', false],
  ['a number', of({ type: 'integer' }), 4111111111111111, TAG, true],
  ['a length', of({ type: 'string', maxLength: 5 }), 'a@b.c', TAG, true],
  ['one of a few', of({ enum: ['a@b.c', 'd@e.f'] }), 'a@b.c', TAG, true],
  ['a mask', of({ type: 'string', format: 'email' }), 'ada@example.com', '[EMAIL]', true],
  ['what did not fit before', of({ type: 'string', format: 'email' }), 'no address', TAG, false],
  ['a pattern below not', of({ not: { pattern: 'x' } }), 'ada@example.com', TAG, false],
])('%s', (_name, schema, written, sent, expected) => {
  expect(fitsNoLonger(schema as never, { a: written } as never, { a: sent } as never)).toBe(expected);
});

test('a pattern of a server is never run', () => {
  const schema = of({ type: 'string', pattern: '^(a+)+$' });
  const started = performance.now();
  fitsNoLonger(schema as never, { a: `${'a'.repeat(40)}!` }, { a: TAG });
  expect(performance.now() - started).toBeLessThan(1000);
});

test('references are not followed, and a broken schema says nothing', () => {
  expect(fitsNoLonger({ $ref: '#' }, { a: 'x' }, { a: TAG })).toBe(false);
  expect(fitsNoLonger({ type: 7, allOf: 'x' }, { a: 'x' }, { a: TAG })).toBe(false);
});

/** Unbounded, each of these takes 40 s and more; the clock of a busy machine decides nothing. */
function processorSeconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

test.each<[string, object, unknown]>([
  ['many schemas of many values', { items: { allOf: Array(1100).fill({ type: 'object' }) } }, Array(2200).fill({})],
  [
    'many members that are no others',
    {
      properties: Object.fromEntries(Array.from({ length: 8000 }, (_, at) => [`a${at}`, {}])),
      additionalProperties: false,
    },
    Object.fromEntries(Array.from({ length: 8000 }, (_, at) => [`a${at}`, 1])),
  ],
  ['many patterns of a long text', { allOf: Array(500).fill({ pattern: '^a' }) }, '«A'.repeat(500_000)],
])('%s do not hold the event loop', (_name, schema, value) => {
  expect(
    processorSeconds(() => fitsNoLonger(of(schema) as never, { a: value } as never, { a: value } as never)),
  ).toBeLessThan(5);
});

test('a large honest call is compared', () => {
  const schema = of({
    type: 'array',
    items: { type: 'object', properties: { to: { type: 'string', format: 'email' } } },
  });
  const rows = (last: string) => [...Array.from({ length: 4000 }, () => ({ to: 'ada@example.com' })), { to: last }];
  expect(fitsNoLonger(schema as never, { a: rows('b@c.de') }, { a: rows(TAG) })).toBe(true);
});
