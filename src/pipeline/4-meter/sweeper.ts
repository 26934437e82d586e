import type { Ledger, SealedRow } from '#ports/ledger.ts';
import type { LimitCounters, OpenHold, Settlement } from '#ports/limit-counters.ts';
import type { Fence, RowDraft } from '#seal/ledger-writer.ts';
import type { AuditRow } from '#seal/row.ts';
import { totalTokens } from '#wire/usage.ts';

export interface SweeperDeps {
  readonly counters: LimitCounters;
  readonly ledger: Ledger;
  readonly owner: string;
  readonly open: ReadonlyMap<string, OpenHold>;
  /** Ids of all organizations. */
  readonly organizations: () => readonly string[];
  readonly seal: (draft: RowDraft) => void;
  readonly settle: (settlements: readonly Settlement[]) => void;
  readonly onFault: (error: unknown) => void;
  readonly onAbandoned: (holds: readonly OpenHold[]) => void;
}

/** Keeps this process' lease and closes the holds that dead processes left behind. */
export interface Sweeper extends Fence {
  /** Renews the lease once and takes over what dead processes left. Rejects when the counters can't be reached. */
  renew(): Promise<void>;
  start(): void;
  stop(): void;
}

const LEASE_MS = 15_000;
const RENEW_MS = 4000;
/** Past this age of the last renewal another process may soon take over: margin for a slow write. */
const FRESH_MS = 9000;
/** Twice as long as a job may wait and run. */
const MOST_RESUMED_MS = 48 * 3_600_000;
const OWN_SWEEP_EVERY = 8;
/** A hold this young may belong to a call that is just being debited. */
const OWN_MIN_AGE_MS = 30_000;

export function createSweeper(deps: SweeperDeps): Sweeper {
  let renewedAt = -Infinity;
  let renewing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ticks = 0;
  /** Abandoned calls handed to the ledger writer and not settled yet: not to be handed over twice. */
  const closing = new Set<string>();

  function renew(): Promise<void> {
    renewing ??= renewOnce().finally(() => (renewing = undefined));
    return renewing;
  }

  async function renewOnce(): Promise<void> {
    const at = performance.now();
    const taken = await deps.counters.takeOver(deps.organizations(), deps.owner, LEASE_MS);
    renewedAt = at;
    await close(taken, closing, deps);
  }

  /** Closes holds of this process that no call of it knows: a debit whose reply was lost. */
  async function sweepOwn(): Promise<void> {
    const before = Date.now() - OWN_MIN_AGE_MS;
    const held = new Set<string>();
    for (const organization of deps.organizations()) {
      const { holds } = await deps.counters.view(organization);
      for (const hold of holds) held.add(hold.callId);
      const own = holds.filter((hold) => hold.owner === deps.owner && hold.at < before);
      await close(
        own.filter(({ callId }) => !closing.has(callId) && !deps.open.has(callId)),
        closing,
        deps,
      );
    }
    for (const callId of closing) if (!held.has(callId)) closing.delete(callId);
  }

  async function tick(): Promise<void> {
    try {
      await renew();
      if (++ticks % OWN_SWEEP_EVERY === 0) await sweepOwn();
    } catch (error) {
      deps.onFault(error);
    }
  }

  return {
    renew,
    fresh: () => performance.now() - renewedAt < FRESH_MS,
    async reclaim(drafts) {
      await renew();
      return stillOurs(drafts, deps);
    },
    start() {
      const next = (): void => {
        timer = setTimeout(() => void tick().then(() => timer && next()), RENEW_MS).unref();
      };
      next();
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}

/** Settles holds whose rows exist, and seals the others as abandoned at the held amount. // design 2 */
async function close(holds: readonly OpenHold[], closing: Set<string>, deps: SweeperDeps): Promise<void> {
  if (holds.length === 0) return;
  const rows = new Map((await deps.ledger.find(holds.map((hold) => hold.callId))).map((row) => [row.callId, row]));
  const known = holds.filter((hold) => rows.has(hold.callId));
  const abandoned = holds.filter((hold) => !rows.has(hold.callId) && !goesOn(hold, Date.now()));
  deps.settle(known.map((hold) => settlementOf(rows.get(hold.callId)!)));
  for (const hold of abandoned) {
    closing.add(hold.callId);
    deps.seal(abandonedDraft(hold));
  }
  if (abandoned.length > 0) deps.onAbandoned(abandoned);
}

/** A job's hold is left as it is: whoever takes the job up again seals it. Only if nobody has for long, it is closed. */
function goesOn({ draft, at }: OpenHold, now: number): boolean {
  const { resumes } = JSON.parse(draft) as { readonly resumes?: boolean };
  return resumes === true && now - at < MOST_RESUMED_MS;
}

function settlementOf(sealed: SealedRow): Settlement {
  const { usage } = JSON.parse(sealed.row) as AuditRow;
  const { callId, organization, cost } = sealed;
  return { callId, organization, cost, tokens: usage ? totalTokens(usage) : 0 };
}

function abandonedDraft(hold: OpenHold): RowDraft {
  const draft = JSON.parse(hold.draft) as Pick<
    AuditRow,
    | 'config_revision'
    | 'key'
    | 'model'
    | 'provider'
    | 'provider_model'
    | 'jurisdiction'
    | 'stream'
    | 'surface'
    | 'wire_format'
  > & { mode: string };
  return {
    row: {
      attempts: [],
      at: new Date(hold.at).toISOString(),
      cache_hit: 'none',
      call_id: hold.callId,
      code: null,
      config_revision: draft.config_revision,
      cost_nano_eur: hold.amount.toString(),
      dlp: { findings: {}, mode: draft.mode, unscanned: [] },
      duration_ms: 0,
      held_nano_eur: hold.amount.toString(),
      jurisdiction: draft.jurisdiction,
      key: draft.key,
      losses: [],
      model: draft.model,
      organization: hold.organization,
      outcome: 'abandoned',
      price: null,
      provider: draft.provider,
      provider_model: draft.provider_model,
      provider_response_id: null,
      reason: 'The process that dispatched the call ended before the call did.',
      status: 0,
      step: 'dispatch',
      stream: draft.stream,
      surface: draft.surface,
      usage: null,
      usage_source: 'held',
      v: 1,
      wire_format: draft.wire_format,
      workload: hold.workload,
    },
    settlement: { callId: hold.callId, organization: hold.organization, cost: hold.amount, tokens: hold.tokens },
  };
}

/** Drafts whose holds are still ours, or are gone without anyone having sealed the call. */
async function stillOurs(drafts: readonly RowDraft[], deps: SweeperDeps): Promise<readonly RowDraft[]> {
  const holds = new Map<string, OpenHold>();
  for (const organization of new Set(drafts.map((draft) => draft.row.organization))) {
    for (const hold of (await deps.counters.view(organization)).holds) holds.set(hold.callId, hold);
  }
  const sealed = new Set((await deps.ledger.find(drafts.map(({ row }) => row.call_id))).map((row) => row.callId));
  return drafts.filter(({ row }) => {
    const owner = holds.get(row.call_id)?.owner;
    return owner === undefined ? !sealed.has(row.call_id) : owner === deps.owner;
  });
}
