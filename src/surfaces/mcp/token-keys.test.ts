import { expect, test } from 'vitest';
import type { AccessTokenRule, Snapshot } from '#/config/snapshot.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { keyOfToken } from './token-keys.ts';

const rule = (value: string, key: string): AccessTokenRule => ({ claim: 'groups', value, key });

/** Two organizations with the keys that are there now, each with its organization. */
function snapshotOf(
  rules: Readonly<Record<string, readonly AccessTokenRule[]>>,
  keys: Readonly<Record<string, string>>,
) {
  const organizations = new Map(Object.entries(rules).map(([id, accessTokens]) => [id, { id, accessTokens }]));
  const keysById = new Map(
    Object.entries(keys).map(([id, of]) => [id, { id, revoked: false, workload: { organization: { id: of } } }]),
  );
  return { organizations, keysById } as unknown as Snapshot;
}

/** The id of the key, or how the token is refused. */
function keyFor(claims: JsonObject, snapshot: Snapshot, held: readonly string[] = []): string {
  try {
    const key = keyOfToken(claims, snapshot, (id) => held.includes(id));
    return key === 'unknown' ? key : key.id;
  } catch (error) {
    return (error as Error).message.replace(/ Virtual.*/, '');
  }
}

const RULES = { acme: [rule('support', 'acme/a'), rule('sales', 'acme/b')], rival: [rule('all', 'rival/c')] };
const ALL = { 'acme/a': 'acme', 'acme/b': 'acme', 'rival/c': 'rival' };

test('a token that two rules are about is good for neither key, whether or not the other is there', () => {
  for (const groups of [
    ['support', 'sales'],
    ['support', 'all'],
  ])
    for (const gone of ['', 'acme/b', 'rival/c', 'acme/a']) {
      const keys = Object.fromEntries(Object.entries(ALL).filter(([id]) => id !== gone));
      for (const held of [[], [gone]]) expect(keyFor({ groups }, snapshotOf(RULES, keys), held)).toBe('Several');
    }
});

test('several rules with the same key are one; the same key in the words of two organizations is not', () => {
  const same = { acme: [rule('support', 'acme/a'), rule('sales', 'acme/a')] };
  expect(keyFor({ groups: ['support', 'sales'] }, snapshotOf(same, ALL))).toBe('acme/a');
  const stolen = { ...same, rival: [rule('support', 'acme/a')] };
  expect(keyFor({ groups: 'support' }, snapshotOf(stolen, ALL))).toBe('Several');
});

test('a key that is not there is unknown where it may be good, and else none', () => {
  const snapshot = snapshotOf(RULES, {});
  expect(keyFor({ groups: 'support' }, snapshot, ['acme/a'])).toBe('unknown');
  expect(keyFor({ groups: 'support' }, snapshot, ['acme/b'])).toBe('No');
  expect(keyFor({ groups: 'support' }, snapshotOf(RULES, { 'acme/a': 'rival' }), ['acme/a'])).toBe('No');
});

test('a rule counts wherever its value is in a long list', () => {
  const groups = ['support', ...Array.from({ length: 2000 }, (_, at) => `g${at}`), 'sales'];
  expect(keyFor({ groups }, snapshotOf(RULES, ALL))).toBe('Several');
});
