import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, mapOf, model, money, oneOf, values } from './schema.ts';

const price = closed({
  model: model({ description: 'Model id; <provider>/* is every model of the provider that has no row of its own.' }),
  unit: oneOf('unit', { default: 'MillionTokens', description: 'The unit that the prices apply to.' }),
  input: money({ description: 'Price per unit; for MillionTokens, of input tokens.' }),
  serviceTier: oneOf('serviceTier', {
    default: 'Standard',
    description: 'Service tier that the row applies to. The row for Standard applies to every tier without a row.',
  }),
  aboveInputTokens: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 100_000_000,
    description: 'The row applies to calls with more input tokens than this, cached ones included.',
  }),
  output: Type.Optional(money({ description: 'Price of a million output tokens.' })),
  reasoning: Type.Optional(money({ description: 'Price of a million reasoning tokens. Default: that of output.' })),
  cacheRead: Type.Optional(money({ description: "Price of a million tokens read from a provider's prompt cache." })),
  cacheWritePremium: Type.Optional(
    money({ description: "Added to the input price of a million tokens written to a provider's prompt cache." }),
  ),
  cacheWrite1h: Type.Optional(
    money({ description: 'Price of a million tokens written to the prompt cache for an hour, premium included.' }),
  ),
  inputAudio: Type.Optional(money({ description: 'Price of a million tokens of audio input.' })),
  inputImage: Type.Optional(money({ description: 'Price of a million tokens of image input.' })),
  cacheReadAudio: Type.Optional(money({ description: 'Price of a million tokens of audio read from a prompt cache.' })),
  outputAudio: Type.Optional(money({ description: 'Price of a million tokens of audio output.' })),
  outputImage: Type.Optional(money({ description: 'Price of a million tokens of image output.' })),
});

const spec = closed({
  currency: values(['EUR', 'USD'], { default: 'EUR', description: 'Currency of the amounts. Cannot be changed.' }),
  effectiveFrom: Type.Optional(Type.String({ format: 'date-time', description: 'When the prices take effect.' })),
  prices: mapOf(price, ['model', 'unit', 'serviceTier', 'aboveInputTokens'], {
    minItems: 1,
    maxItems: 1000,
    description: 'The prices.',
  }),
});

/** `spec` of a PriceBook: what calls cost, where an organization's prices are not the built-in ones. */
export type PriceBookSpec = Static<typeof spec>;

/** One price of a book. */
export type PriceRow = PriceBookSpec['prices'][number];

const specRules: readonly Rule<PriceBookSpec>[] = [
  {
    rule: 'self.currency == oldSelf.currency',
    message: 'is immutable: create a new PriceBook',
    fieldPath: '.currency',
  },
];

/** What only tokens have. */
const OF_TOKENS = [
  'output',
  'reasoning',
  'cacheRead',
  'cacheWritePremium',
  'cacheWrite1h',
  'inputAudio',
  'inputImage',
  'cacheReadAudio',
  'outputAudio',
  'outputImage',
] as const;

const priceRules: readonly Rule<PriceRow>[] = [
  {
    rule: `self.unit == 'MillionTokens' || (${OF_TOKENS.map((name) => `!has(self.${name})`).join(' && ')})`,
    message: `may have ${OF_TOKENS.slice(0, -1).join(', ')} and ${OF_TOKENS.at(-1)} only when unit is MillionTokens`,
    check: (self) => self.unit === 'MillionTokens' || OF_TOKENS.every((name) => self[name] === undefined),
  },
  {
    rule: "self.unit == 'MillionTokens' || (self.serviceTier == 'Standard' && self.aboveInputTokens == 0)",
    message: 'may be for a serviceTier or aboveInputTokens only when unit is MillionTokens',
    check: (self) => self.unit === 'MillionTokens' || (self.serviceTier === 'Standard' && self.aboveInputTokens === 0),
  },
];

/** The PriceBook kind. */
export const priceBook = customKind('PriceBook', spec, [
  rulesAt('spec', specRules),
  rulesAt('spec.prices[*]', priceRules),
]);
