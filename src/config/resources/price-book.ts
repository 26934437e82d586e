import Type, { type Static } from 'typebox';
import { customKind } from './kind.ts';
import { rulesAt, type Rule } from './rules.ts';
import { closed, mapOf, model, money, oneOf, values } from './schema.ts';

const price = closed({
  model: model({ description: 'Model id; <provider>/* is every model of a provider without a row of its own.' }),
  unit: oneOf('unit', { default: 'MillionTokens', description: 'What the amounts are for.' }),
  input: money({ description: 'Price of a unit; for MillionTokens, of input tokens.' }),
  output: Type.Optional(money({ description: 'Price of a million output tokens.' })),
  cacheRead: Type.Optional(money({ description: "Price of a million tokens read from a provider's prompt cache." })),
  cacheWritePremium: Type.Optional(
    money({ description: "Added to the input price of a million tokens written to a provider's prompt cache." }),
  ),
});

const spec = closed({
  currency: values(['EUR', 'USD'], { default: 'EUR', description: 'Currency of the amounts. Cannot be changed.' }),
  effectiveFrom: Type.Optional(Type.String({ format: 'date-time', description: 'When the prices begin to hold.' })),
  prices: mapOf(price, ['model', 'unit'], { minItems: 1, maxItems: 1000, description: 'The prices.' }),
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

const priceRules: readonly Rule<PriceRow>[] = [
  {
    rule:
      "self.unit == 'MillionTokens' || " +
      '(!has(self.output) && !has(self.cacheRead) && !has(self.cacheWritePremium))',
    message: 'may have output, cacheRead and cacheWritePremium only when unit is MillionTokens',
    check: (self) =>
      self.unit === 'MillionTokens' || (self.output ?? self.cacheRead ?? self.cacheWritePremium) === undefined,
  },
];

/** The PriceBook kind. */
export const priceBook = customKind('PriceBook', spec, [
  rulesAt('spec', specRules),
  rulesAt('spec.prices[*]', priceRules),
]);
