import { describe, expect, test } from 'vitest';
import type { ResolvedPolicy } from '#config/snapshot.ts';
import { allowListReason, residencyReason } from './policy.ts';

const lists = (...allowedModels: string[][]) => ({ allowedModels }) as unknown as ResolvedPolicy;
const allowed = (...codes: string[]) => ({ allowedJurisdictions: new Set(codes) }) as unknown as ResolvedPolicy;

describe('allow-lists', () => {
  test.each([
    [[], 'p/m', true],
    [[[]], 'p/m', true],
    [[['p/m']], 'p/m', true],
    [[['p/m']], 'p/m2', false],
    [[['p/*']], 'p/a/b', true],
    [[['p/*']], 'pp/m', false],
    [[['p/gpt-*-mini']], 'p/gpt-4o-mini', true],
    [[['p/gpt-*-mini']], 'p/gpt-mini', false],
    [[['p/*a*a']], 'p/a', false],
    [[['p/*'], ['p/m']], 'p/m', true],
    [[['p/*'], ['q/*']], 'p/m', false],
  ] as const)('%j allows %s: %s', (given, model, ok) => {
    expect(allowListReason([model], lists(...(given as unknown as string[][]))) === undefined).toBe(ok);
  });
});

test('an alias that is allowed allows what is behind it, list by list', () => {
  expect(allowListReason(['gw/fast', 'p/m'], lists(['gw/*']))).toBeUndefined();
  expect(allowListReason(['gw/fast', 'p/m'], lists(['gw/*'], ['p/*']))).toBeUndefined();
  expect(allowListReason(['gw/fast', 'p/m'], lists(['gw/*'], ['q/*']))).toContain('allow-list');
});

describe('residency', () => {
  test.each([
    [['EU'], 'EU', true],
    [['EU'], 'DE', true],
    [['DE'], 'EU', false],
    [['EU'], 'CH', false],
    [['EU'], 'US', false],
    [['US', 'EU'], 'US', true],
    [[], 'EU', false],
  ] as const)('allowed %j, provider in %s: %s', (codes, jurisdiction, ok) => {
    expect(residencyReason('p', jurisdiction, allowed(...codes)) === undefined).toBe(ok);
  });

  test('without a policy every jurisdiction is fine', () => {
    expect(residencyReason('p', 'CN', {} as ResolvedPolicy)).toBeUndefined();
  });

  test('the reason says where the provider is and what is allowed', () => {
    expect(residencyReason('p', 'US', allowed('FR', 'DE'))).toContain('p is in US, allowed are DE, FR');
  });
});
