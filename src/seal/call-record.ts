import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import type { Family } from '#/wire/document/document.ts';
import { BESIDE_TOKENS, NO_USAGE, totalTokens, type Usage } from '#/wire/answer/usage.ts';
import { ClientCancelled, type CallContext } from '#/call/call.ts';
import { jurisdictionsOf, type CallFacts, type StatedFacts } from '#/call/facts.ts';
import type { RowDraft } from './ledger-writer.ts';
import { timeText } from './row-text.ts';
import type { AuditRow, Outcome, Step } from './row.ts';
import { shadowDifferences } from './shadow.ts';
import type { Units } from '#/call/units.ts';

/** Whose count is billed. */
type UsageSource = 'provider' | 'estimated' | 'implausible';

interface Billed {
  readonly usage: Usage;
  readonly source: UsageSource;
}

const NOTHING_STATED: StatedFacts = {
  asked: { model: null, stream: false },
  scope: undefined,
  findings: {},
  detectors: undefined,
  unscanned: [],
  removed: [],
  toolServers: [],
  route: [],
  shadow: [],
  tool: undefined,
  hold: undefined,
  attempts: [],
  losses: [],
  target: undefined,
  isAnswering: false,
  cacheHit: 'none',
  providerResponseId: null,
  usage: undefined,
  units: undefined,
  seen: NO_USAGE,
  isDoubted: false,
  isServed: false,
};

/**
 * The facts of a call's audit row. Steps state them, and only `run-call.ts` merges them in here. Whatever
 * happens in between (a refusal, a fault, a client hanging up), `draft` says how it ended.
 */
export class CallRecord {
  /** Where the call is. */
  step: Step = 'admit';
  /** Facts stated so far. */
  readonly facts: StatedFacts;
  readonly #facts: { -readonly [K in keyof StatedFacts]: StatedFacts[K] } = { ...NOTHING_STATED };
  #error: GatewayError | undefined;
  readonly #context: CallContext;
  readonly #family: Family;

  /** `family`: what the surface speaks. */
  constructor(context: CallContext, family: Family) {
    this.facts = this.#facts;
    this.#context = context;
    this.#family = family;
  }

  merge(facts: CallFacts): void {
    const { route, shadow } = this.#facts;
    Object.assign(this.#facts, facts);
    if (facts.route && route.length > 0) this.#facts.route = [...route, ...facts.route];
    if (facts.shadow && shadow.length > 0) this.#facts.shadow = [...shadow, ...facts.shadow];
  }

  fail(error: GatewayError): void {
    this.#error = error;
  }

  /** The row to seal, and its settlement. Adds the differences of a policy in shadow mode that only show at the end. */
  draft(): RowDraft {
    const { shadow } = this.#context.key.workload;
    if (shadow) this.#compareShadow(shadow);
    const outcome = this.#outcome();
    const billed = this.#billed(outcome);
    const isTokensOnly = billed !== undefined && hasTokensOnly(billed.usage);
    const units = billed && (isTokensOnly ? this.#facts.units : withUnits(this.#facts.units, billed.usage));
    const { hold, target } = this.#facts;
    let cost = 0n;
    try {
      if (billed && hold && target) cost = hold.cost(billed.usage, target, units);
    } catch (thrown) {
      // A usage that has no cost is billed as it was held: nothing goes unsealed for a figure that makes no sense.
      if (!(thrown instanceof RangeError)) throw thrown;
      cost = hold!.open.amount;
    }
    const settlement = hold && {
      callId: this.#context.id,
      organization: hold.open.organization,
      cost,
      tokens: billed ? totalTokens(billed.usage) : 0,
    };
    const usage = billed && (isTokensOnly ? billed.usage : tokenCounts(billed.usage));
    return { row: this.#row(outcome, cost, billed, usage, units), settlement };
  }

  /** The billed usage: reported, or counted here, or nothing without an answer. */
  #billed(outcome: Outcome): Billed | undefined {
    const { cacheHit, usage, target, isAnswering, isDoubted, seen } = this.#facts;
    if (cacheHit !== 'none') return undefined;
    if (usage) return { usage, source: isDoubted ? 'implausible' : 'provider' };
    if (target === undefined) return undefined;
    // A call that is refused here reached no provider.
    if (target.provider === LOCAL_PROVIDER.slug && !isAnswering) return undefined;
    // Given up while the provider may have been running it: by the client, or by the timeout the client chose.
    const givenUp = outcome === 'hung_up' || this.#error?.code === 'upstream_timeout';
    if (!isAnswering && !givenUp) return undefined;
    return { usage: seen, source: isDoubted ? 'implausible' : 'estimated' };
  }

  #outcome(): Outcome {
    if (this.#facts.isServed) return 'served';
    if (this.#context.signal.aborted && this.#error?.code !== 'server_restarting') return 'hung_up';
    if (this.#error === undefined) return 'hung_up';
    return this.step === 'dispatch' || this.#error.code === 'internal_error' ? 'failed' : 'refused';
  }

  /** Tells a client that cancelled its call from one that is gone. */
  #cancelled(outcome: Outcome): string | null {
    return outcome === 'hung_up' && this.#context.signal.reason instanceof ClientCancelled ? 'cancelled' : null;
  }

  /** Adds what only the end of a call shows. */
  #compareShadow(shadow: ResolvedPolicy): void {
    const { key, headers, startedAt } = this.#context;
    const { policy } = key.workload;
    const { asked, findings, removed, unscanned, attempts } = this.#facts;
    const timeout = headers['x-gw-upstream-timeout'];
    const waited = asked.stream
      ? attempts.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
      : Date.now() - startedAt;
    this.merge({
      shadow: shadowDifferences(policy, shadow, {
        findings,
        removed,
        unscanned,
        answeredInMs: attempts.length === 0 ? undefined : waited,
        timedOut: this.#error?.code === 'upstream_timeout',
        askedSeconds: typeof timeout === 'string' && /^\d{1,9}$/.test(timeout) ? Number(timeout) : undefined,
      }),
    });
  }

  /** `usage`: the tokens that are billed. */
  #row(
    outcome: Outcome,
    cost: bigint,
    billed: Billed | undefined,
    usage: AuditRow['usage'] | undefined,
    units: Units | undefined,
  ): RowDraft['row'] {
    const { id, startedAt, key, snapshot, surface, parent, person } = this.#context;
    const facts = this.#facts;
    const { hold, target, shadow, toolServers } = facts;
    const failed = outcome === 'failed' || outcome === 'refused';
    return {
      attempts: facts.attempts,
      at: timeText(startedAt) ?? new Date(startedAt).toISOString(),
      cache_hit: facts.cacheHit,
      call_id: id,
      code: failed && this.#error ? this.#error.code : null,
      config_revision: snapshot.revision,
      cost_nano_eur: cost.toString(),
      dlp: {
        detectors: facts.detectors,
        findings: facts.findings,
        mode: key.workload.policy.dlp.mode,
        unscanned: facts.unscanned,
      },
      duration_ms: Math.max(0, Date.now() - startedAt),
      held_nano_eur: (hold?.open.amount ?? 0n).toString(),
      jurisdiction: jurisdictionOf(facts),
      key: key.id,
      losses: facts.losses,
      model: facts.asked.model,
      organization: key.workload.organization.id,
      outcome,
      parent,
      person,
      price: billed && hold && target ? hold.priceSource(target) : null,
      provider: target?.provider ?? null,
      provider_model: target?.model ?? null,
      provider_response_id: facts.providerResponseId,
      // A failure behind the gateway carries the provider's words, which may quote content: only its cause is kept.
      reason: failed && this.#error ? (this.#error.report?.cause ?? this.#error.message) : this.#cancelled(outcome),
      route: facts.route.length <= MOST_LINES ? facts.route : bounded(facts.route),
      scope: facts.scope,
      service_tier: billed?.usage.serviceTier,
      shadow: shadow.length > 0 ? bounded(shadow.map(({ field, text }) => `${field}: ${text}`)) : undefined,
      status: failed && this.#error ? this.#error.status : outcome === 'hung_up' ? 499 : 200,
      step: outcome === 'served' ? null : this.step,
      stream: facts.asked.stream,
      surface,
      tool: facts.tool,
      tool_servers: toolServers.length > 0 ? bounded(toolServers) : undefined,
      units: units && hasUnits(units) ? units : undefined,
      // Calls of tools are billed by their number.
      usage: usage && !facts.tool ? usage : null,
      usage_source: billed ? billed.source : null,
      v: 1,
      wire_format: target?.family ?? this.#family,
      workload: key.workload.id,
    };
  }
}

/** Longest list that a row tells how it was routed by. */
const MOST_LINES = 16;

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_LINES) return lines;
  return [...lines.slice(0, MOST_LINES - 1), `and ${lines.length - MOST_LINES + 1} more`];
}

/** Where a call's prompt went; what this gateway does itself it does without attempts. */
function jurisdictionOf({ attempts, cacheHit, target }: StatedFacts): string | null {
  if (attempts.length === 0) return cacheHit === 'none' ? (target?.jurisdiction ?? null) : null;
  if (attempts.length === 1) return attempts[0]!.sent === false ? null : (attempts[0]!.jurisdiction ?? null);
  return jurisdictionsOf(attempts.flatMap((one) => (one.sent === false ? [] : (one.jurisdiction ?? []))));
}

function hasTokensOnly(usage: Usage): boolean {
  for (const unit of BESIDE_TOKENS) if (usage[unit] !== undefined) return false;
  return usage.serviceTier === undefined;
}

/** The tokens alone. */
function tokenCounts(usage: Usage): NonNullable<AuditRow['usage']> {
  const { serviceTier: _, searches: _searches, fileSearches: _files, containers: _containers, ...tokens } = usage;
  return tokens;
}

/** Units that are billed besides tokens, with those that a usage reports. */
function withUnits(units: Units | undefined, usage: Usage): Units | undefined {
  let all = units;
  for (const unit of BESIDE_TOKENS) if (usage[unit] !== undefined) all = { ...all, [unit]: usage[unit] };
  return all;
}

/** Whether any units were used besides tokens. */
function hasUnits(units: Units): boolean {
  return Object.values(units).some((count) => count > 0);
}
