import type { Vendor } from './vendor.ts';

/** TypeSafe: answers typed questions in a family of its own; other decisions are turned into it. // wire-formats 10 */
export const typesafe: Vendor<'typesafe'> = {
  id: 'typesafe',
  name: 'TypeSafe',
  protocol: 'custom',
  families: ['systemone', 'decisions'],
  address: 'https://api.typesafe.ai/v1',
  hosts: { 'api.typesafe.ai': 'US' },
  credentials: ['api_key'],
  promptCache: 'none',
  traits: {},
  prices: { litellm: [], modelsDev: [] },
  sample: {},
};
