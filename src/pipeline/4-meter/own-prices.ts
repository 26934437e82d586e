import { fraction } from './fraction.ts';
import type { ListedPeriod } from './price-list.ts';

/** A price that the bundled data does not have yet, as a vendor publishes it, in dollars. */
interface OwnPrice {
  /** As the data calls the vendor. */
  readonly provider: string;
  readonly models: readonly string[];
  /** Where it was read, and when. */
  readonly source: string;
  readonly date: string;
  /** By quantity, as of `Quantities`; the last one that has begun holds. `from`: a date, in UTC. */
  readonly periods: readonly { readonly from?: string; readonly usd: Readonly<Record<string, string>> }[];
}

/** What OpenAI bills beyond 272,000 tokens of input: twice the input, and the output half as much again. */
const SOL = { input: '2', output: '10', cacheRead: '0.1', cacheWrite5m: '2.5' };
const SOL_LONG = { 'input>272000': '4', 'output>272000': '15', 'cacheRead>272000': '0.2', 'cacheWrite5m>272000': '5' };
const TERRA = { input: '1', output: '5', cacheRead: '0.05', cacheWrite5m: '1.25' };
const TERRA_LONG = {
  'input>272000': '2',
  'output>272000': '7.5',
  'cacheRead>272000': '0.1',
  'cacheWrite5m>272000': '2.5',
};
const SONNET = { input: '2', output: '10', cacheWrite5m: '2.5', cacheWrite1h: '4' };

/** Of models that the model catalogue knows. A row goes when the bundled data has its models. */
const OWN_PRICES: readonly OwnPrice[] = [
  {
    provider: 'anthropic',
    models: ['claude-sonnet-5-5'],
    source: 'platform.claude.com/docs/en/models/sonnet-5-5/overview',
    date: '2026-11-23',
    periods: [{ usd: { ...SONNET, cacheRead: '0.2' } }, { from: '2026-10-07', usd: { ...SONNET, cacheRead: '0.1' } }],
  },
  {
    provider: 'anthropic',
    models: ['claude-haiku-5-5'],
    source: 'platform.claude.com/docs/en/models/haiku-5-5/overview',
    date: '2026-11-23',
    periods: [
      {
        usd: {
          ...{ input: '0.1', output: '0.5', cacheRead: '0.01', cacheWrite5m: '0.125', cacheWrite1h: '0.2' },
          ...{ 'input>100000': '0.5', 'output>100000': '2.5', 'cacheRead>100000': '0.05' },
          ...{ 'cacheWrite5m>100000': '0.625', 'cacheWrite1h>100000': '1' },
        },
      },
    ],
  },
  {
    provider: 'anthropic',
    models: ['claude-fable-5-2', 'claude-mythos-5-2'],
    source: 'docs.laozhang.ai/en/announcements/claude-fable-5-2-2026-11, which tells the list price',
    date: '2026-11-23',
    periods: [{ usd: { input: '8', output: '40', cacheRead: '0.2', cacheWrite5m: '10', cacheWrite1h: '16' } }],
  },
  {
    provider: 'anthropic',
    models: ['claude-mythos-5-1'],
    source: 'platform.claude.com/docs/en/about-claude/pricing',
    date: '2026-11-23',
    periods: [{ usd: { input: '10', output: '50', cacheRead: '0.25', cacheWrite5m: '12.5', cacheWrite1h: '20' } }],
  },
  {
    provider: 'anthropic',
    models: ['claude-mythos-5'],
    source: 'platform.claude.com/docs/en/about-claude/pricing',
    date: '2026-11-23',
    periods: [{ usd: { input: '10', output: '50', cacheRead: '1', cacheWrite5m: '12.5', cacheWrite1h: '20' } }],
  },
  {
    provider: 'openai',
    models: ['gpt-6.1-sol'],
    source: 'developers.openai.com/api/docs/models/gpt-6.1-sol',
    date: '2026-11-23',
    periods: [{ usd: { ...SOL, ...SOL_LONG } }],
  },
  {
    provider: 'openai',
    models: ['gpt-6.1-terra'],
    source: 'docs.litellm.ai/blog/gpt-6-1-terra',
    date: '2026-11-23',
    periods: [{ usd: { ...TERRA, ...TERRA_LONG } }],
  },
  {
    provider: 'google',
    models: ['gemini-4-hydrogen'],
    source: 'github.com/BerriAI/litellm/discussions/51436',
    date: '2026-11-23',
    periods: [{ usd: { input: '1.5', output: '7.5', cacheRead: '0.075' } }],
  },
  {
    provider: 'google',
    models: ['gemini-4-argon'],
    source: 'github.com/iyulab/TokenMeter/releases/tag/v0.13.1',
    date: '2026-11-23',
    periods: [
      { usd: { input: '2', output: '10', cacheRead: '0.1' } },
      { from: '2026-12-01', usd: { input: '4', output: '20', cacheRead: '0.2' } },
    ],
  },
  {
    provider: 'mistral',
    // Others tell half of it, which may be the price of the preview.
    models: ['mistral-large-4', 'mistral-large-4-0'],
    source: 'vercel.com/ai-gateway/models/mistral-large-4',
    date: '2026-11-23',
    periods: [{ usd: { input: '1.36', output: '4.18' } }],
  },
];

/** A dated snapshot of a model costs what the model does. */
const DATE = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/;

const byName: ReadonlyMap<string, { readonly from: string; readonly periods: readonly ListedPeriod[] }> = new Map(
  OWN_PRICES.flatMap((own) => own.models.map((model) => [`${own.provider}/${model}`, readOwn(own)] as const)),
);

function readOwn({ date, periods }: OwnPrice): { readonly from: string; readonly periods: ListedPeriod[] } {
  return {
    from: `gatewarden prices ${date}`,
    periods: periods.map(({ from, usd }) => ({
      ...(from !== undefined && { from: Date.parse(from) }),
      usd: new Map(Object.entries(usd).map(([name, amount]) => [name, fraction(amount)])),
    })),
  };
}

/** Ids of the models of a provider with a price of our own. */
export function ownModels(provider: string): readonly string[] {
  return OWN_PRICES.filter((own) => own.provider === provider).flatMap(({ models }) => models);
}

/** Our own price of a model, and the list it is from. */
export function ownPrice(
  provider: string,
  model: string,
): { readonly from: string; readonly name: string; readonly periods: readonly ListedPeriod[] } | undefined {
  const id = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  for (const name of [`${provider}/${id}`, `${provider}/${id.replace(DATE, '')}`]) {
    const own = byName.get(name);
    if (own) return { ...own, name };
  }
  return undefined;
}
