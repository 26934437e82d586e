import { fraction } from './fraction.ts';
import type { ListedPeriod } from './price-list.ts';

/** A price that the bundled data does not have yet, or not right, as a vendor publishes it, in dollars. */
interface OwnPrice {
  /** As the data calls the vendor. */
  readonly provider: string;
  readonly models: readonly string[];
  /** Where it was read, and when. */
  readonly source: string;
  readonly date: string;
  /** By quantity, as of `Quantities`; the last one that holds is in force. `from`: a date or a time, in UTC. */
  readonly periods: readonly OwnPeriod[];
  /** It goes before the bundled data. */
  readonly corrects?: true;
}

interface OwnPeriod extends Pick<ListedPeriod, 'daily' | 'weekdays'> {
  readonly from?: string;
  readonly usd: Readonly<Record<string, string>>;
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

/** When DeepSeek began to bill twice as much at its peak, and when it spared weekends. */
const PEAKS_SINCE = '2026-08-16T16:00:00Z';
const WEEKENDS_SINCE = '2026-08-23';
/** Seconds of the day in UTC. Public holidays of China are not told apart: they are billed as peak. */
const PEAKS = [
  [1 * 3600, 4 * 3600],
  [6 * 3600, 10 * 3600],
] as const;

const WORKDAYS = [1, 2, 3, 4, 5];

/** Off its peak, and at its peak: from a moment on workdays only. */
function deepseek(since: string, off: OwnPeriod['usd'], peak: OwnPeriod['usd']): readonly OwnPeriod[] {
  const from = since > WEEKENDS_SINCE ? since : WEEKENDS_SINCE;
  return [
    { from: since, usd: off },
    ...PEAKS.map((daily) => ({ from: since, daily, usd: peak })),
    { from, usd: off },
    ...PEAKS.map((daily) => ({ from, daily, weekdays: WORKDAYS, usd: peak })),
  ];
}

const FLASH = deepseek(
  '2026-10-17',
  { input: '0.15', output: '0.6', cacheRead: '0.003' },
  { input: '0.3', output: '1.2', cacheRead: '0.006' },
);

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
  {
    provider: 'deepseek',
    models: ['deepseek-v4-pro'],
    source: 'api-docs.deepseek.com/quick_start/pricing, as github.com/anomalyco/models.dev/pull/4891 tells it',
    date: '2026-11-24',
    corrects: true,
    periods: [
      { usd: { input: '0.435', output: '0.87', cacheRead: '0.003625' } },
      ...deepseek(
        PEAKS_SINCE,
        { input: '0.66', output: '1.98', cacheRead: '0.022' },
        { input: '1.32', output: '3.96', cacheRead: '0.044' },
      ),
    ],
  },
  {
    provider: 'deepseek',
    // Billed as its successor since that is there.
    models: ['deepseek-v4-flash'],
    source: 'api-docs.deepseek.com/quick_start/pricing, as github.com/anomalyco/models.dev/pull/4891 tells it',
    date: '2026-11-24',
    corrects: true,
    periods: [
      { usd: { input: '0.14', output: '0.28', cacheRead: '0.0028' } },
      ...deepseek(
        PEAKS_SINCE,
        { input: '0.22', output: '0.66', cacheRead: '0.007' },
        { input: '0.44', output: '1.32', cacheRead: '0.014' },
      ),
      ...FLASH,
    ],
  },
  {
    provider: 'deepseek',
    models: ['deepseek-flash'],
    source:
      'api-docs.deepseek.com/quick_start/pricing, as github.com/benderandrew069/deepseek-api-pricing-2026 tells it',
    date: '2026-11-24',
    periods: FLASH,
  },
];

/** A dated snapshot of a model costs what the model does. */
const DATE = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/;

interface ReadOwn {
  readonly from: string;
  readonly periods: readonly ListedPeriod[];
  readonly corrects: boolean;
}

const byName: ReadonlyMap<string, ReadOwn> = new Map(
  OWN_PRICES.flatMap((own) => own.models.map((model) => [`${own.provider}/${model}`, readOwn(own)] as const)),
);

function readOwn({ date, periods, corrects }: OwnPrice): ReadOwn {
  return {
    from: `gatewarden prices ${date}`,
    corrects: corrects === true,
    periods: periods.map(({ from, usd, ...when }) => ({
      ...when,
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
export function ownPrice(provider: string, model: string): (ReadOwn & { readonly name: string }) | undefined {
  const id = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  for (const name of [`${provider}/${id}`, `${provider}/${id.replace(DATE, '')}`]) {
    const own = byName.get(name);
    if (own) return { ...own, name };
  }
  return undefined;
}
