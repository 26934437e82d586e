import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { AttemptReport, GatewayError } from '#/errors/gateway-error.ts';
import type { Hold } from '#/meter/meter.ts';
import { believedUnits, isBelievable, type Believable, type Seen } from '#/meter/plausible-usage.ts';
import type { Units } from '#/call/units.ts';
import type { Family } from '#/wire/document/document.ts';
import { NO_USAGE, totalTokens, type Usage } from '#/wire/answer/usage.ts';
import type { Opening } from '#/call/call.ts';
import { hasUnits, tokenCounts, withUnits } from './billed-units.ts';
import type { RowDraft } from './ledger-writer.ts';
import { jurisdictionOf } from '#/call/jurisdictions.ts';
import { timeText } from './row-text.ts';
import type { AuditRow, Outcome, Step } from './row.ts';
import { shadowDifferences } from './shadow.ts';
import type { Difference } from '#/call/difference.ts';

/** A provider that was asked, and how. */
export interface EntryTarget {
  readonly provider: string;
  readonly model: string;
  readonly jurisdiction: string;
  /** The wire family it was asked in. */
  readonly family: Family;
}

/** What the row of a call that was answered from the cache says, and says again of the same call. */
export interface Recurring extends Pick<
  Entry,
  'scope' | 'findings' | 'detectors' | 'unscanned' | 'removed' | 'route' | 'shadow' | 'losses' | 'providerResponseId'
> {
  readonly target: EntryTarget;
  readonly asked: { readonly model: string | null; readonly stream: boolean };
}

/** Whose count is billed. */
type UsageSource = 'provider' | 'estimated' | 'implausible';

/**
 * The audit row of a call while it walks the corridor. Opened first and disposed last, so that whatever happens in
 * between (a refusal, a fault, a client hanging up) is sealed and its hold settled.
 */
export class Entry implements Disposable {
  step: Step = 'door';
  /** What the scope guard made of the call. */
  scope: string | undefined;
  findings: Readonly<Record<string, number>> = {};
  /** Who looked through it (`DetectorMarks`). */
  detectors: string | undefined;
  unscanned: readonly string[] = [];
  /** Labels of the terms that the request itself asks to remove. */
  removed: readonly string[] = [];
  /** Servers of tools that the provider may call by itself, by name and host. */
  toolServers: readonly string[] = [];
  /** How the route was decided, a line each model. */
  readonly route: string[] = [];
  /** What a policy in shadow mode would have decided otherwise. */
  readonly shadow: Difference[] = [];
  hold: Hold | undefined;
  readonly attempts: AttemptReport[] = [];
  /** What the way to the target dropped. */
  losses: readonly string[] = [];
  /** The target that was last asked. */
  target: EntryTarget | undefined;
  /** A provider has begun to answer, so what was seen is billed. */
  answering = false;
  /** Whether the answer came from the gateway's own cache: then nothing was used. */
  cacheHit: AuditRow['cache_hit'] = 'none';
  providerResponseId: string | null = null;
  /** As the provider reported it. */
  usage: Usage | undefined;
  /** What was used beside tokens (pages, images): as reported, and until then as it was asked for. */
  units: Units | undefined;
  /** What is billed when the provider reports nothing: our own count. */
  seen: Usage = NO_USAGE;
  /** What the provider may say that was used. Undefined: whoever says it is this gateway. */
  believable: Believable | undefined;
  readonly #opening: Opening;
  readonly #family: Family;
  readonly #enqueue: (draft: RowDraft) => void;
  #asked: { readonly model: string | null; readonly stream: boolean } = { model: null, stream: false };
  #served = false;
  #left = false;
  /** What the provider said last of the whole answer can't be true. */
  #doubted = false;
  #error: GatewayError | undefined;

  /** `family`: what the surface speaks. */
  constructor(opening: Opening, family: Family, enqueue: (draft: RowDraft) => void) {
    this.#opening = opening;
    this.#family = family;
    this.#enqueue = enqueue;
  }

  /** The request was read: the model it asks for is known, if it asks for one. */
  admitted(asked: { readonly model: string | null; readonly stream: boolean }): void {
    this.#asked = asked;
  }

  /**
   * Notes what the provider says of the answer so far. False: it can't be true of what was sent and seen, and our own count
   * is billed unless it says better. // spec 6.1.2
   */
  tell(usage: Usage, seen: Seen): boolean {
    const isBelieved = this.believable === undefined || isBelievable(usage, this.believable, seen);
    if (!seen.whole) return isBelieved;
    this.usage = isBelieved ? usage : undefined;
    this.#doubted = !isBelieved;
    return isBelieved;
  }

  /** The provider has begun to answer. */
  begin(): void {
    this.answering = true;
  }

  identify(providerResponseId: string): void {
    this.providerResponseId ??= providerResponseId;
  }

  count(seen: Usage): void {
    this.seen = seen;
  }

  lose(loss: string): void {
    if (!this.losses.includes(loss)) this.losses = [...this.losses, loss];
  }

  /** Notes the units that the provider says were used, as far as that can be believed. */
  tellUnits(told: Units): void {
    const { units, doubted } = believedUnits(told, this.believable?.units ?? {}, this.units);
    this.units = { ...this.units, ...units };
    this.#doubted ||= doubted;
  }

  /** The whole answer was handed to the surface. */
  served(): void {
    this.#served = true;
  }

  /** Nothing is sealed: the call goes on another time, here or elsewhere, under the same id and hold. */
  leave(): void {
    this.#left = true;
  }

  failed(error: GatewayError): void {
    this.#error = error;
  }

  /** What of this entry is true of the next call too that is the same to the byte; undefined unless it was a hit. */
  recurring(): Recurring | undefined {
    const { scope, findings, detectors, unscanned, removed, losses, providerResponseId, target } = this;
    if (this.cacheHit === 'none' || !this.#served || !target) return undefined;
    const asked = this.#asked;
    const [route, shadow] = [[...this.route], [...this.shadow]];
    const said = { scope, findings, detectors, unscanned, removed, route, shadow, losses };
    return { ...said, providerResponseId, target, asked };
  }

  /** The call is one that was answered from the cache a moment ago. */
  recurs({ asked, route, shadow, scope, findings, detectors, unscanned, removed }: Recurring): void {
    Object.assign(this, { scope, findings, detectors, unscanned, removed });
    this.#asked = asked;
    this.route.push(...route);
    this.shadow.push(...shadow);
  }

  /** It was let through, and is answered from the cache again: one that is refused is no hit. */
  answeredAgain({ target, losses, providerResponseId }: Recurring): void {
    Object.assign(this, { target, losses, providerResponseId });
    this.cacheHit = 'exact';
  }

  /** What the call is billed for: reported, or counted here, or nothing when nobody answered. */
  billed(): { readonly usage: Usage; readonly source: UsageSource } | undefined {
    if (this.cacheHit !== 'none') return undefined;
    if (this.usage) return { usage: this.usage, source: this.#doubted ? 'implausible' : 'provider' };
    if (this.target === undefined) return undefined;
    // What is given up here is done by nobody.
    if (this.target.provider === LOCAL_PROVIDER.slug && !this.answering) return undefined;
    // Given up while the provider may have been running it: by the client, or by the timeout the client chose.
    const givenUp = this.#outcome() === 'hung_up' || this.#error?.code === 'upstream_timeout';
    if (!this.answering && !givenUp) return undefined;
    return { usage: this.seen, source: this.#doubted ? 'implausible' : 'estimated' };
  }

  [Symbol.dispose](): void {
    if (this.#left) return;
    this.#compareShadow();
    const billed = this.billed();
    const cost = billed ? this.#cost(billed.usage) : 0n;
    const settlement = this.hold && {
      callId: this.#opening.id,
      organization: this.hold.open.organization,
      cost,
      tokens: billed ? totalTokens(billed.usage) : 0,
    };
    this.#enqueue({ row: this.#row(cost, billed), settlement });
  }

  /** A usage that has no cost is billed as it was held: nothing goes unsealed for a figure that makes no sense. */
  #cost(usage: Usage): bigint {
    if (!this.hold || !this.target) return 0n;
    try {
      return this.hold.cost(usage, this.target, withUnits(this.units, usage));
    } catch (thrown) {
      if (!(thrown instanceof RangeError)) throw thrown;
      return this.hold.open.amount;
    }
  }

  #outcome(): Outcome {
    if (this.#served) return 'served';
    if (this.#opening.signal.aborted && this.#error?.code !== 'server_restarting') return 'hung_up';
    if (this.#error === undefined) return 'hung_up';
    return this.step === 'dispatch' || this.#error.code === 'internal_error' ? 'failed' : 'refused';
  }

  /** Adds what only the end of a call shows. A call without a shadow policy does nothing here. */
  #compareShadow(): void {
    const { key, headers, startedAt } = this.#opening;
    const { policy, shadow } = key.workload;
    if (!shadow) return;
    const { findings, removed, unscanned, attempts } = this;
    const asked = headers['x-gw-upstream-timeout'];
    const waited = this.#asked.stream
      ? attempts.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
      : Date.now() - startedAt;
    this.shadow.push(
      ...shadowDifferences(policy, shadow, {
        findings,
        removed,
        unscanned,
        answeredInMs: attempts.length === 0 ? undefined : waited,
        timedOut: this.#error?.code === 'upstream_timeout',
        askedSeconds: typeof asked === 'string' && /^\d{1,9}$/.test(asked) ? Number(asked) : undefined,
      }),
    );
  }

  #row(cost: bigint, billed: ReturnType<Entry['billed']>): RowDraft['row'] {
    const { id, startedAt, key, snapshot, surface } = this.#opening;
    const outcome = this.#outcome();
    const failed = outcome === 'failed' || outcome === 'refused';
    const units = billed && withUnits(this.units, billed.usage);
    return {
      attempts: this.attempts,
      at: timeText(startedAt) ?? new Date(startedAt).toISOString(),
      cache_hit: this.cacheHit,
      call_id: id,
      code: failed && this.#error ? this.#error.code : null,
      config_revision: snapshot.revision,
      cost_nano_eur: cost.toString(),
      dlp: {
        detectors: this.detectors,
        findings: this.findings,
        mode: key.workload.policy.dlp.mode,
        unscanned: this.unscanned,
      },
      duration_ms: Math.max(0, Date.now() - startedAt),
      held_nano_eur: (this.hold?.open.amount ?? 0n).toString(),
      jurisdiction: jurisdictionOf(this),
      key: key.id,
      losses: this.losses,
      model: this.#asked.model,
      organization: key.workload.organization.id,
      outcome,
      price: billed && this.hold && this.target ? this.hold.priceSource(this.target) : null,
      provider: this.target?.provider ?? null,
      provider_model: this.target?.model ?? null,
      provider_response_id: this.providerResponseId,
      // A failure behind the gateway carries the provider's words, which may quote content: only its cause is kept.
      reason: failed && this.#error ? (this.#error.report?.cause ?? this.#error.message) : null,
      route: bounded(this.route),
      scope: this.scope,
      service_tier: billed?.usage.serviceTier,
      shadow: this.shadow.length > 0 ? bounded(this.shadow.map(({ field, text }) => `${field}: ${text}`)) : undefined,
      status: failed && this.#error ? this.#error.status : outcome === 'hung_up' ? 499 : 200,
      step: outcome === 'served' ? null : this.step,
      stream: this.#asked.stream,
      surface,
      tool_servers: this.toolServers.length > 0 ? bounded(this.toolServers) : undefined,
      units: units && hasUnits(units) ? units : undefined,
      usage: billed ? tokenCounts(billed.usage) : null,
      usage_source: billed ? billed.source : null,
      v: 1,
      wire_format: this.target?.family ?? this.#family,
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
