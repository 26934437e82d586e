import { expect, test } from 'vitest';
import { canonicalJson } from '../document/canonical-json.ts';
import { unlikeCanonical } from './unlike-canonical.ts';

/** All that an approval is bound to of a JSON source. */
const bound = (source: string) => JSON.stringify([canonicalJson(JSON.parse(source)), unlikeCanonical(source)]);

test.each([
  ['0', '-0'],
  ['0', '1e-400'],
  ['0', '-1e-400'],
  ['0', '0.0e5'],
  ['9007199254740992', '9007199254740993'],
  ['9.007199254740992', '9.007199254740993'],
  ['9.007199254740992e3', '9.0071992547409925e3'],
  ['0.30000000000000004', '0.30000000000000003'],
  ['1e23', '99999999999999991611392'],
  ['5e-324', '4e-324'],
])('tells %s from %s, alone and below others', (one, other) => {
  for (const around of [(n: string) => n, (n: string) => `{"a":[1,{"b":${n}}]}`])
    expect(bound(around(one))).not.toBe(bound(around(other)));
});

test('tells apart two numbers that change places, in any order of members', () => {
  const [one, other] = ['9007199254740992', '9007199254740993'];
  const base = bound(`{"a":${one},"b":${other}}`);
  expect(bound(`{"b":${other},"a":${one}}`)).toBe(base);
  expect(bound(`{"b":${one},"a":${other}}`)).not.toBe(base);
  expect(bound(`{"a":${other},"b":${one}}`)).not.toBe(base);
});

test('a number beyond all doubles is kept as it is written', () => {
  expect(unlikeCanonical('[1e400]')).not.toEqual(unlikeCanonical('[1e500]'));
});

test.each(['', '{}', '[0,1,-1.5,100,1e2,2.5e-10,123456789012345,0.000000000123456789012345]', '"9007199254740993"'])(
  'says nothing of %s',
  (source) => {
    expect(unlikeCanonical(source)).toEqual([]);
  },
);

test('the same number in two spellings is the same', () => {
  expect(bound('[100,2.50]')).toBe(bound('[1e2,2.5]'));
});

test.each(['"\\ud800"', '"\ud800"', '{"\\uDFFF":1}'])('keeps a source with half of a surrogate pair: %j', (source) => {
  expect(unlikeCanonical(source)).toEqual([source]);
});
