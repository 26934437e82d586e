import type { VendorId } from '#/config/snapshot.ts';

const CLAUDE = [
  ...['claude-fable-5-2', 'claude-fable-5-1', 'claude-fable-5', 'claude-mythos-5-2', 'claude-mythos-5-1'],
  ...['claude-mythos-5', 'claude-opus-5-5', 'claude-opus-5', 'claude-opus-4-8', 'claude-opus-4-7', 'claude-opus-4-6'],
  ...['claude-opus-4-5', 'claude-sonnet-5-5', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-sonnet-4-5'],
  ...['claude-haiku-5-5', 'claude-haiku-4-5'],
];
const GEMINI = ['gemini-4-hydrogen', 'gemini-4-argon'];

/**
 * Models that vendors offer under these ids, so that they are listed where nothing else names them. Each must have a price
 * in the bundled data or in `meter/pricing/own-prices.ts`: a test compares.
 */
const KNOWN_MODELS: Readonly<Partial<Record<VendorId, readonly string[]>>> = {
  anthropic: CLAUDE,
  openai: [
    ...['gpt-6-astra', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6.1-sol', 'gpt-6.1-terra', 'gpt-5.6-sol', 'gpt-5.6-terra'],
    ...['gpt-5.6-luna', 'gpt-5.5', 'gpt-5.4', 'gpt-5.2', 'gpt-5.1', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-4.1'],
    ...['gpt-4.1-mini', 'gpt-4o', 'gpt-4o-mini', 'o3', 'o4-mini'],
  ],
  gemini: GEMINI,
  vertex: GEMINI,
  mistral: ['mistral-large-4', 'mistral-large-4-0', 'mistral-large-latest', 'mistral-small-latest', 'codestral-latest'],
};

const NONE: readonly string[] = [];

/** What the catalogue knows that a vendor offers. */
export function knownModels(vendor: VendorId): readonly string[] {
  return KNOWN_MODELS[vendor] ?? NONE;
}
