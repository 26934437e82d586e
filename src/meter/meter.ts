import type { WorkloadConfig } from '#/config/snapshot.ts';
import type { ByName } from '#/runtime/passing.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { CallContext } from '#/call/call.ts';
import {
  CountersUnavailable,
  type HoldDecision,
  type HoldRequest,
  type LimitCounters,
  type Limits,
  type OpenHold,
} from '#/ports/limit-counters.ts';
import type { DebitedTarget } from '#/call/target.ts';
import { jurisdictionsOf, type HeldMoney } from '#/call/facts.ts';
import type { NanoEuro } from '#/values/money.ts';
import { periodsAt } from './limits/periods.ts';
import type { UsageBounds } from './usage-bounds.ts';
import { ceiling, cost, coversService, type Price, STANDARD } from './pricing/price.ts';
import type { Quantity, Unit } from '#/call/units.ts';
import type { PriceBook } from './pricing/price-book.ts';
import type { MeterMemory } from './meter-memory.ts';
import { limitRefusal, type Refused } from './limits/limit-refusal.ts';
import type { Restorer } from './counter-rebuild.ts';
import { standingOf } from './limits/standing.ts';

/** What a request that is debited asks for. */
export interface Asked {
  /** Null: it asks for none. */
  readonly model: string | null;
  readonly stream: boolean;
  /** A job: should this process die, another one goes on with it. */
  readonly resumes?: boolean;
}

/** A debit made before dispatch. */
export interface Hold<T extends DebitedTarget = DebitedTarget> {
  /** Settles the debit. Without the targets, so that a row does not hold their requests. */
  readonly money: HeldMoney;
  /** The targets that have a price: only they may be asked. */
  readonly plan: readonly [T, ...T[]];
  /** As they stand after this call. */
  readonly limits: Limits;
}

export interface MeterDeps extends MeterMemory {
  readonly counters: LimitCounters;
  readonly prices: PriceBook;
  readonly restorer: Restorer;
  /** Told of every refusal of the counters; `at`: when the call began. */
  readonly onRefused: (decision: Refused, workload: WorkloadConfig, at: number) => void;
  /** Proof that this process is alive: any process may take over a hold without it. */
  readonly lease: { fresh(): boolean; ensure(): Promise<void> };
  /** This process, as the holder of its holds. */
  readonly owner: string;
  /** Holds of this process that are not settled yet. */
  readonly open: ByName<OpenHold>;
}

/** The price of calls that are not billed because they use no model. */
const UNPRICED: Price = { source: 'not billed', tiers: [], units: {}, denominator: 1n };

/** More than this no budget holds: the counters are 64-bit integers of nano-euro. */
const MOST = 2n ** 63n - 1n;

/**
 * Debits a call before anything is dispatched: its worst case over every candidate, against the workload's limits and
 * budget and the organization's cap and credit, in one atomic step. // spec 1.5, 8
 * Throws `price_unknown`, `rate_limit_exceeded`, `insufficient_quota`, or `limits_unavailable` when it cannot be checked.
 */
export async function hold<T extends DebitedTarget>(
  call: CallContext,
  asked: Asked,
  candidates: readonly T[],
  bounds: Pick<UsageBounds, 'ceiling' | 'quantities' | 'reservedTokens'>,
  deps: MeterDeps,
): Promise<Hold<T>> {
  const { workload } = call.key;
  const { plan, prices, amount } = priceCandidates(call, candidates, bounds, deps.prices);
  if (amount > MOST)
    throw new GatewayError('insufficient_quota', 'The estimated cost exceeds the largest supported budget.');
  if (!deps.lease.fresh()) {
    await deps.lease.ensure().catch((cause: unknown) => {
      throw unavailable(cause);
    });
  }
  const open: OpenHold = {
    callId: call.id,
    owner: deps.owner,
    organization: workload.organization.id,
    workload: workload.id,
    at: call.startedAt,
    periods: periodsAt(call.startedAt, workload.organization.timeZone),
    amount,
    tokens: deps.likely.reserve(workload.organization.id, prices.keys(), {
      input: bounds.reservedTokens,
      mostOutput: bounds.ceiling.outputTokens ?? 0,
      limit: workload.tokensPerMinute,
    }),
    draft: abandonedDraft(call, asked, plan),
  };
  const limits = await debit(open, call, deps);
  deps.open.set(open.callId, open);
  return { money: moneyOf(open, prices, deps), plan, limits };
}

function moneyOf(open: OpenHold, prices: ReadonlyMap<string, Price>, { likely }: Pick<MeterDeps, 'likely'>): HeldMoney {
  return {
    open,
    cost(usage, target, units) {
      const id = `${target.provider}/${target.model}`;
      likely.note(open.organization, id, usage.output);
      return cost(prices.get(id)!, usage, units);
    },
    priceSource: ({ provider, model }) => prices.get(`${provider}/${model}`)!.source,
  };
}

/**
 * Counts a call that costs nothing as a request, where every limit lets it through as it would a call that costs as little
 * as can be. Nothing is held, so nothing is to be settled. Throws `rate_limit_exceeded`, `insufficient_quota`, or
 * `limits_unavailable` when it cannot be checked.
 */
export function count(call: CallContext, deps: DebitDeps & Pick<MeterDeps, 'owner'>): Promise<Limits> {
  const { workload } = call.key;
  const nothing: HoldRequest = {
    callId: call.id,
    owner: deps.owner,
    organization: workload.organization.id,
    workload: workload.id,
    at: call.startedAt,
    periods: periodsAt(call.startedAt, workload.organization.timeZone),
    amount: 0n,
    tokens: 0,
    draft: '',
    free: true,
  };
  return debit(nothing, call, deps);
}

type DebitDeps = Pick<MeterDeps, 'counters' | 'restorer' | 'refusals' | 'arrivals' | 'near' | 'onRefused'>;

/** Asks the counters. Resolves with the state of the limits; throws the client's error for a refusal. */
async function debit(request: HoldRequest, context: CallContext, deps: DebitDeps): Promise<Limits> {
  const { workload } = context.key;
  const asked = { ...request, ...(LIMITS.get(workload) ?? limitsOf(workload)) };
  const askedAt = performance.now();
  const decision = await askCounters(asked, workload, deps);
  if (decision.kind === 'refused') throw await refusal(decision, request, context, askedAt, deps);
  const { requests, tokens, near } = decision;
  if (near) deps.near.add(request);
  if (deps.refusals.hasAny) deps.refusals.forget(workload);
  deps.arrivals.granted(context, requests, askedAt);
  return { ...(requests && { requests }), ...(tokens && { tokens }) };
}

/** How long a call waits for counters that are being restored, before it is refused. */
const RESTORE_PATIENCE_MS = 3000;
const BUSY_WAIT_MS = 5;

/** Asks the counters, and restores them where they are cold. Throws `limits_unavailable` where that takes too long. */
export async function askCounters(
  asked: HoldRequest,
  { organization }: WorkloadConfig,
  { counters, restorer }: { readonly counters: LimitCounters; readonly restorer: Restorer },
): Promise<Exclude<HoldDecision, { kind: 'cold' | 'busy' }>> {
  const askedAt = performance.now();
  try {
    for (;;) {
      const decision = await counters.hold(asked);
      if (decision.kind !== 'cold' && decision.kind !== 'busy') return decision;
      if (performance.now() > askedAt + RESTORE_PATIENCE_MS) throw new CountersUnavailable('they are being restored');
      if (decision.kind === 'cold') await restorer.restore(organization);
      else await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
    }
  } catch (cause) {
    throw unavailable(cause);
  }
}

/** Counters that cannot be asked fail closed. // spec 8 */
function unavailable(cause: unknown): GatewayError {
  const store =
    cause === undefined || cause instanceof CountersUnavailable ? 'limits_unavailable' : 'ledger_unavailable';
  return new GatewayError(store, 'Limits and budget could not be checked. Nothing was sent.', {}, { cause });
}

/** The client's error, which the next requests of the workload may be answered with at once. */
async function refusal(
  decision: Extract<HoldDecision, { kind: 'refused' }>,
  request: HoldRequest,
  context: CallContext,
  askedAt: number,
  deps: DebitDeps,
): Promise<GatewayError> {
  const { workload } = context.key;
  deps.arrivals.leave(context);
  const { by } = decision;
  const isRate = by === 'requests' || by === 'tokens';
  const standing = isRate ? undefined : await standingOf(by, request, workload, deps.counters);
  const refused = { ...decision, ...(standing && { standing }) };
  deps.refusals.note(refused, askedAt, workload, context.snapshot.revision);
  deps.onRefused(refused, workload, request.at);
  return limitRefusal(refused, workload, request.amount);
}

/** Candidates without a price are not used: an unknown price is never free. // design 7 */
function priceCandidates<T extends DebitedTarget>(
  call: CallContext,
  candidates: readonly T[],
  { quantities, ceiling: bounds }: Pick<UsageBounds, 'ceiling' | 'quantities'>,
  book: PriceBook,
): { readonly plan: Hold<T>['plan']; readonly prices: ReadonlyMap<string, Price>; readonly amount: NanoEuro } {
  const prices = new Map<string, Price>();
  const plan: T[] = [];
  let amount = 0n;
  const { organization, policy } = call.key.workload;
  for (const candidate of candidates) {
    const { provider, model } = candidate;
    const price =
      quantities.length === 0
        ? UNPRICED
        : book.find(organization, provider.config, model, call.startedAt, quantities, policy.estimatesPrices);
    if (!price) continue;
    if ((bounds.serviceTier !== undefined || bounds.fast) && !coversService(price, bounds)) continue;
    prices.set(`${provider.config.slug}/${model}`, price);
    plan.push(candidate);
    const worst = ceiling(price, bounds);
    if (worst > amount) amount = worst;
  }
  const [first, ...others] = plan;
  if (!first) throw unpriced(candidates, quantities, bounds.fast === true ? 'fast' : bounds.serviceTier);
  return { plan: [first, ...others], prices, amount };
}

type WorkloadLimits = Pick<
  HoldRequest,
  'requestsPerMinute' | 'tokensPerMinute' | 'workloadBudget' | 'organizationCap' | 'prepaid'
>;

/** A workload of a snapshot never changes. */
const LIMITS = new WeakMap<WorkloadConfig, WorkloadLimits>();

function limitsOf(workload: WorkloadConfig): WorkloadLimits {
  const { requestsPerMinute, tokensPerMinute, budget, organization } = workload;
  const limits = {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(tokensPerMinute !== undefined && { tokensPerMinute }),
    ...(budget && { workloadBudget: budget }),
    ...(organization.cap && { organizationCap: organization.cap }),
    ...(organization.plan?.type === 'prepaid' && { prepaid: true }),
  };
  LIMITS.set(workload, limits);
  return limits;
}

/** What an `abandoned` row would say, should this process die before it can say more. */
function abandonedDraft(call: CallContext, asked: Asked, plan: readonly [DebitedTarget, ...DebitedTarget[]]): string {
  const [{ provider, model, family }] = plan;
  return JSON.stringify({
    config_revision: call.snapshot.revision,
    key: call.key.id,
    mode: call.key.workload.policy.dlp.mode,
    model: asked.model,
    provider: provider.config.slug,
    provider_model: model,
    // It may have been sent to any of them.
    jurisdiction:
      plan.length === 1
        ? provider.jurisdiction(model)
        : jurisdictionsOf(plan.map((one) => one.provider.jurisdiction(one.model))),
    stream: asked.stream,
    surface: call.surface,
    wire_format: family,
    ...(asked.resumes && { resumes: true }),
  });
}

/** Names of units in a PriceBook. */
const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  pages: 'Page',
  images: 'Image',
  calls: 'Call',
  seconds: 'Second',
  searches: 'Search',
  fileSearches: 'FileSearch',
  containers: 'Container',
};

/** Says which price to configure. The owner's own server has only the price that the owner sets. */
function unpriced(
  candidates: readonly DebitedTarget[],
  quantities: readonly Quantity[],
  serviceTier: string | undefined,
): GatewayError {
  const models = [...new Set(candidates.map(({ provider, model }) => `${provider.config.slug}/${model}`))];
  const inTier = serviceTier === undefined || serviceTier === STANDARD ? '' : ` in the service tier ${serviceTier}`;
  const wild = [...new Set(candidates.map(({ provider }) => `${provider.config.slug}/*`))];
  const custom = candidates.every(({ provider }) => provider.config.vendor === 'custom');
  const why = custom ? ', whose provider is a custom endpoint' : '';
  if (quantities.length === 1 && quantities[0] === 'calls') {
    const message =
      `No price is known for ${models.join(', ')}, a call without a model. Calls without a price are refused. ` +
      `Add a row to spec.prices of ${bookOf(candidates)}: ${rowFor(models[0], 'calls')}. 0 is a price.`;
    return new GatewayError('price_unknown', message);
  }
  return new GatewayError(
    'price_unknown',
    `No price is known for ${models.join(', ')}${inTier}${why}; models without a price are refused. ` +
      `Add a row to spec.prices of ${bookOf(candidates)}: ` +
      `${quantities.map((quantity) => rowFor(models[0], quantity)).join(' or ')}. ` +
      `0 is a price, and ${wild.join(' or ')} stands for all models of a provider. ` +
      'Or set price: Estimated in a Policy to serve it at the price of the nearest older model of its line.',
    { param: 'model' },
  );
}

/** A row of a PriceBook, by what a call is billed by. */
function rowFor(model: string | undefined, quantity: Quantity): string {
  if (quantity === 'tokens') {
    return `{model: ${model}, input: "<EUR per million tokens>", output: "<EUR per million tokens>"}`;
  }
  const unit = UNIT_NAMES[quantity];
  return `{model: ${model}, unit: ${unit}, input: "<EUR per ${unit.toLowerCase()}>"}`;
}

/** Whose prices hold for these models. */
function bookOf(candidates: readonly DebitedTarget[]): string {
  const managed = candidates.every(({ provider }) => provider.config.keyOwnership === 'managed');
  return managed ? "the provider's PriceBook (priceBookRef)" : "the organization's PriceBook (priceBookRef)";
}
