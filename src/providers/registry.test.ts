import { afterAll, expect, test } from 'vitest';
import { addressOf } from '#/config/resources/vendors.ts';
import { placeOf } from '#/config/compile/whereabouts.ts';
import { VENDOR_IDS, VENDORS } from '#/vendors/list.ts';
import { DECIDING } from '#/wire/document/document.ts';
import { createTransport } from './http/transport.ts';
import { createProviders } from './registry.ts';
import { configOf } from './testing/config.ts';

const transport = createTransport();
afterAll(() => transport.close());

test.each(VENDOR_IDS)('%s has a provider, asked in no family that the vendor does not list', (id) => {
  const { families, models = [] } = VENDORS[id];
  const provider = createProviders(transport)(configOf(id, { region: 'eu', project: 'p' }));
  const asked = ['some-model', ...models].flatMap((model) => provider?.families(model) ?? []);
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((family) => !families.includes(family) && !DECIDING.has(family))).toEqual([]);
});

test.each(VENDOR_IDS)('where %s processes data at its own address is known, whatever a Provider declares', (id) => {
  const region = id === 'vertex' ? 'europe-west4' : 'eu-central-1';
  const address = addressOf(id, region);
  if (address === undefined) return expect(['azure', 'custom']).toContain(id);
  expect(placeOf(id, address, region)).toBeDefined();
});
