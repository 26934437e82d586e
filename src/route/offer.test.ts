import { describe, expect, test } from 'vitest';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { allowListReason, allowListReasonOfProvider, residencyReason } from './offer.ts';

const lists = (...lists: string[][]) =>
  ({ allowedModels: lists.map((models, at) => ({ models, from: `list ${at + 1}` })) }) as unknown as ResolvedPolicy;
const allowed = (...codes: string[]) =>
  ({
    allowedJurisdictions: new Set(codes),
    origins: [
      { field: 'dlp.mode', value: 'mask', from: 'nobody' },
      { field: 'residency.allowedJurisdictions', value: codes.join(), from: 'Policy a/b (override)' },
      { field: 'residency.allowedJurisdictions', value: 'all', from: 'Policy a/c (default)' },
    ],
  }) as unknown as ResolvedPolicy;

describe('allow-lists', () => {
  test.each([
    [[], 'p/m', true],
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
  expect(allowListReason(['gw/fast', 'p/m'], lists(['gw/*'], ['q/*']))).toBe('not on the allow-list of list 2');
});

test('a call without a model needs a provider of which every list allows something', () => {
  expect(allowListReasonOfProvider('p', lists())).toBeUndefined();
  expect(allowListReasonOfProvider('p', lists(['q/*', 'p/m'], ['p/*']))).toBeUndefined();
  expect(allowListReasonOfProvider('p', lists(['p/*'], ['pp/*', 'gw/*']))).toBe('not on the allow-list of list 2');
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
    expect(residencyReason(jurisdiction, allowed(...codes)) === undefined).toBe(ok);
  });

  test('without a policy every jurisdiction is fine', () => {
    expect(residencyReason('CN', { origins: [] } as unknown as ResolvedPolicy)).toBeUndefined();
  });

  test('the reason says where the provider is, what is allowed, and by whom', () => {
    expect(residencyReason('US', allowed('FR', 'DE'))).toBe(
      'in US, allowed are DE, FR (Policy a/b (override); Policy a/c (default))',
    );
    expect(residencyReason('US', allowed())).toContain('none is allowed');
  });
});
