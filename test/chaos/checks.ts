import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { CATALOGUE } from '#/errors/catalogue.ts';
import { periodsAt } from '#/meter/limits/periods.ts';
import type { CountersView } from '#/ports/limit-counters.ts';
import type { AuditRow } from '#/seal/row.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import type { Call } from './load.ts';
import { PER_TOKEN, type Budget, type Workload } from './tenants.ts';
import type { Life, World } from './world.ts';

/** Longer than a lease, the time until leases can be trusted again, and a sweep of a process' own holds. */
const PATIENCE_MS = 90_000;
const MOST_RESIDENT = 700 * 1024 * 1024;

/** Waits until every call is sealed and every hold settled. Answers what is left when that does not happen. */
export async function quiesce(
  world: World,
  organizations: readonly string[],
  say: (line: string) => void,
): Promise<readonly string[]> {
  // Whoever looks on has time: what the machine is busy with is not to decide.
  const counters = openRedisCounters({ url: world.redis.url, commandTimeoutMs: 10_000 });
  try {
    await counters.ping();
    for (let waited = 0, calm = 0; ; waited += 250) {
      const busy = await unfinished(world, await viewsOf(counters, organizations));
      calm = busy.length === 0 ? calm + 1 : 0;
      if (calm === 3) return [];
      if (waited % 15_000 === 14_000) say(busy.join('; '));
      if (waited > PATIENCE_MS) return busy.map((what) => `does not come to rest: ${what}`);
      await sleep(250);
    }
  } finally {
    await counters.close();
  }
}

type Views = ReadonlyMap<string, CountersView>;

async function viewsOf(
  counters: ReturnType<typeof openRedisCounters>,
  organizations: readonly string[],
): Promise<Views> {
  const views = organizations.map(async (id) => [id, await counters.view(id)] as const);
  return new Map(await Promise.all(views));
}

async function unfinished(world: World, views: Views): Promise<readonly string[]> {
  const busy: string[] = [];
  for (const [organization, { holds }] of views)
    if (holds.length > 0) busy.push(`${organization} has ${holds.length} open holds`);
  for (const { index, life } of world.slots) {
    if (!life) continue;
    const metrics = await fetch(`${life.gateway.adminUrl}/metrics`).then(
      (answer) => answer.text(),
      () => '',
    );
    for (const name of ['gw_open_calls', 'gw_open_holds', 'gw_pending_rows', 'gw_pending_settlements']) {
      const value = Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1]);
      if (value !== 0) busy.push(`${name} of gateway ${index} is ${value}`);
    }
  }
  return busy;
}

/** What a batch of rounds has to answer for. */
export interface Evidence {
  readonly world: World;
  readonly workloads: readonly Workload[];
  readonly calls: readonly Call[];
  /** Redis kept its data, and the whole load was within a minute: limits per minute can be held against it. */
  readonly countsRates: boolean;
  /** Gateways died as well: what these had in flight may be known to nobody. */
  readonly losesCalls: boolean;
}

/** Everything that is not as it has to be, in words. */
export async function violations(evidence: Evidence): Promise<readonly string[]> {
  const { world, workloads } = evidence;
  const own = new Set(workloads.map(({ organization }) => organization));
  const rows = (await ledgerRows(world.databaseUrl)).filter(({ organization }) => own.has(organization));
  return [
    ...world.lives.flatMap((life) => sane(life)),
    ...onePerCall(evidence, rows),
    ...toldTruly(evidence, rows),
    ...withinBudgets(evidence, rows),
    ...withinRates(evidence),
    ...(await booksAgree(world, workloads, rows)),
    ...(await chainVerifies(world)),
  ];
}

const modelOf = (row: AuditRow): string => (row.model ?? '').replace('upstream/', '');

/** One counted row for each call that reached the provider, with as many attempts, for what it answered. */
function onePerCall({ world: { provider }, calls, losesCalls }: Evidence, rows: readonly AuditRow[]): string[] {
  const faults: string[] = [];
  const byModel = Map.groupBy(rows, modelOf);
  for (const { model, behaviour, life } of calls) {
    const found = byModel.get(model) ?? [];
    const seen = provider.seen.get(model);
    const [row] = found;
    if (found.length > 1) faults.push(`${model} has ${found.length} rows`);
    if (seen && !row && !(losesCalls && life.ending))
      faults.push(`${model} was dispatched ${seen.requests} times and has no row`);
    if (!row) continue;
    const cost = BigInt(row.cost_nano_eur);
    if (cost > BigInt(row.held_nano_eur))
      faults.push(`${model} costs ${cost}, more than its hold ${row.held_nano_eur}`);
    if (row.outcome === 'abandoned') {
      if (row.cost_nano_eur !== row.held_nano_eur) faults.push(`${model} is abandoned and not billed as held`);
      continue;
    }
    const requests = seen?.requests ?? 0;
    const surely = row.attempts.filter(({ status }) => status !== null && status !== undefined).length;
    if (requests > row.attempts.length || requests < surely)
      faults.push(`${model} was asked for ${requests} times, its row has ${JSON.stringify(row.attempts)}`);
    const truth = PER_TOKEN * BigInt(behaviour.input + behaviour.output);
    if (row.usage_source === 'provider' && cost !== truth) faults.push(`${model} costs ${cost} instead of ${truth}`);
    if (row.outcome === 'served' && row.usage_source !== 'provider')
      faults.push(`${model} is served and not billed by report`);
  }
  return faults;
}

/** Every call ends, in a way that is documented, and the row says the same. */
function toldTruly({ calls, losesCalls }: Evidence, rows: readonly AuditRow[]): string[] {
  const faults: string[] = [];
  const byId = new Map(rows.map((row) => [row.call_id, row]));
  for (const { model, behaviour, outcome, life, hangUpAfter } of calls) {
    const what = `${model} (${behaviour.kind}${hangUpAfter === undefined ? '' : `, left after ${hangUpAfter} ms`})`;
    switch (outcome.kind) {
      case 'left':
        break;
      case 'hung':
        faults.push(`${what} was never answered`);
        break;
      case 'broken':
      case 'unreachable':
        if (!life.ending && !life.stoodStill)
          faults.push(`${what} broke off though its gateway lives: ${JSON.stringify(outcome)}`);
        break;
      case 'answered': {
        const { status, code, id } = outcome;
        if (!(life.stoodStill && code === 'upstream_timeout'))
          faults.push(...documented(what, status, code, behaviour.kind));
        const row = id === null ? undefined : byId.get(id);
        if (status === 200 && code === undefined && !row && !(losesCalls && life.ending))
          faults.push(`${what} was served and has no row`);
        if (row && row.outcome !== 'abandoned' && row.code !== (code ?? null))
          faults.push(`${what} was told ${code}, its row says ${row.code} (${row.outcome})`);
      }
    }
  }
  return faults;
}

/** Codes that the suite's faults may lead to, whatever the provider does. */
const STORES_DOWN = new Set(['limits_unavailable', 'ledger_unavailable', 'server_restarting']);
const LIMITS = new Set(['insufficient_quota', 'rate_limit_exceeded']);
const PROVIDER_DOWN = new Set(['upstream_error', 'upstream_overloaded', 'upstream_timeout']);
const FAULTY = new Set<Call['behaviour']['kind']>(['always-500', 'reset', 'broken', 'silent']);

function documented(what: string, status: number, code: string | undefined, kind: Call['behaviour']['kind']): string[] {
  if (code === undefined) return status === 200 ? [] : [`${what} was told ${status} without a code`];
  if (!STORES_DOWN.has(code) && !LIMITS.has(code) && !(PROVIDER_DOWN.has(code) && FAULTY.has(kind)))
    return [`${what} was told ${status} ${code}`];
  const expected: number = CATALOGUE[code as keyof typeof CATALOGUE].status;
  return status === expected || status === 200 ? [] : [`${what} was told ${code} as ${status}`];
}

function withinBudgets({ workloads }: Evidence, rows: readonly AuditRow[]): string[] {
  const faults: string[] = [];
  const check = (scope: string, timeZone: string, { amount, period }: Budget, own: readonly AuditRow[]): void => {
    const spent = Map.groupBy(own, (row) => periodOf(row, timeZone, period));
    for (const [when, some] of spent) {
      const sum = total(some);
      if (sum > amount) faults.push(`${scope} spent ${sum} of ${amount} (${when})`);
    }
  };
  for (const { id, timeZone, budget } of workloads)
    if (budget)
      check(
        id,
        timeZone,
        budget,
        rows.filter(({ workload }) => workload === id),
      );
  for (const [organization, [first]] of Map.groupBy(workloads, (workload) => workload.organization))
    if (first?.cap)
      check(
        organization,
        first.timeZone,
        first.cap,
        rows.filter((row) => row.organization === organization),
      );
  return faults;
}

function periodOf({ at }: AuditRow, timeZone: string, period: Budget['period']): string {
  const { day, month } = periodsAt(Date.parse(at), timeZone);
  return { Total: 'total', Daily: day, Monthly: month }[period];
}

function total(rows: readonly AuditRow[]): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row.cost_nano_eur), 0n);
}

function withinRates({ workloads, calls, world, countsRates }: Evidence): string[] {
  if (!countsRates) return [];
  return workloads.flatMap(({ id, requestsPerMinute }) => {
    if (requestsPerMinute === undefined) return [];
    const passed = calls.filter((call) => call.workload.id === id && world.provider.seen.has(call.model)).length;
    return passed > requestsPerMinute ? [`${id}: ${passed} of ${requestsPerMinute} calls in a minute`] : [];
  });
}

/** Counters = ledger, to the nano-euro, in every period that has counters; and the ledger's sums are those of its rows. */
async function booksAgree(world: World, workloads: readonly Workload[], rows: readonly AuditRow[]): Promise<string[]> {
  const faults: string[] = [];
  // Whoever looks on has time: what the machine is busy with is not to decide.
  const counters = openRedisCounters({ url: world.redis.url, commandTimeoutMs: 10_000 });
  try {
    await counters.ping();
    for (const [organization, [first]] of Map.groupBy(workloads, (workload) => workload.organization)) {
      const { spend, holds } = await counters.view(organization);
      if (holds.length > 0) faults.push(`${organization} has ${holds.length} open holds`);
      const own = rows.filter((row) => row.organization === organization);
      for (const { scope, period, amount } of spend) {
        const counted = own.filter(
          (row) =>
            (scope === 'organization' || row.workload === scope) && inPeriod(row, first?.timeZone ?? 'UTC', period),
        );
        if (total(counted) !== amount)
          faults.push(`${scope} of ${organization}, ${period}: ${amount} counted, ${total(counted)} in the ledger`);
      }
    }
  } finally {
    await counters.close();
  }
  return faults;
}

function inPeriod({ at }: AuditRow, timeZone: string, period: string): boolean {
  const { day, month } = periodsAt(Date.parse(at), timeZone);
  return period === 'total' || period === day || period === month;
}

/** Chain, checkpoints, and sums beside the rows. */
async function chainVerifies({ databaseUrl }: World): Promise<string[]> {
  const { status, out, err } = await runGwctl(['audit', 'verify', '--database-url', databaseUrl]);
  return status === 0 ? [] : [`the chain does not verify: ${out}${err}`];
}

/** A process that ended only when told, of a sane size, whose log is in lines of JSON and tells no content. */
function sane({ gateway, ending }: Life): string[] {
  const faults: string[] = [];
  if (!ending) {
    try {
      const resident =
        Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${gateway.pid}/status`, 'utf8'))?.[1]) * 1024;
      if (!(resident < MOST_RESIDENT)) faults.push(`gateway ${gateway.pid} takes ${resident} bytes`);
    } catch {
      faults.push(`gateway ${gateway.pid} ended by itself:\n${gateway.log.slice(-20).join('\n')}`);
    }
  }
  for (const line of gateway.log) {
    if (!line.startsWith('{')) faults.push(`gateway ${gateway.pid} printed: ${line}`);
    else if (/word-\d|gw_test_|always-500|\\"kind\\"/.test(line)) faults.push(`a log tells content: ${line}`);
    else if (/"level":(50|60)|"level":"(error|fatal)"/.test(line)) faults.push(`a gateway logs an error: ${line}`);
  }
  return faults;
}
