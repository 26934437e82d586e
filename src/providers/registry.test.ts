import { expect, test } from 'vitest';
import { addressOf, VENDOR_IDS } from '#/config/resources/vendors.ts';
import { placeOf } from '#/config/compile/whereabouts.ts';
import { WAYS_OUT } from './registry.ts';

test.each(VENDOR_IDS)('configuration knows %s, and there is a way out to it', (id) => {
  expect(WAYS_OUT[id].id).toBe(id);
});

test.each(VENDOR_IDS)('where %s processes data at its own address is known, whatever a Provider declares', (id) => {
  const region = id === 'vertex' ? 'europe-west4' : 'eu-central-1';
  const address = addressOf(id, region);
  if (address === undefined) return expect(['azure', 'custom']).toContain(id);
  expect(placeOf(id, address, region)).toBeDefined();
});
