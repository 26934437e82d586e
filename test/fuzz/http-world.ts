import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Pool } from 'undici';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import { CATALOGUE } from '#/errors/catalogue.ts';
import { startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startFuzzProvider, type Asked, type Reply } from './provider.ts';
import { plantedIn } from './secrets.ts';
import { newTenants, tenantResources, type Tenant, type Tenants } from './tenants.ts';

/** One call of a client. */
export interface FuzzCall {
  readonly tenant: Tenant;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The client leaves after the first piece of the answer. */
  readonly leaves?: boolean;
  /** Whether a call of this path with a known key leaves an audit row. */
  readonly sealed: boolean;
}

/** A gateway with real stores between a hostile client and a hostile provider, and the laws that hold for each call. */
export interface HttpWorld {
  readonly tenants: Tenants;
  /** Makes a call and checks what a client can see of it. */
  call(call: FuzzCall): Promise<void>;
  /** What did not hold so far, each once; at most 50. */
  faults(): readonly string[];
  /** Waits until everything is sealed and settled, and checks rows, money and memory. */
  finish(): Promise<readonly string[]>;
  readonly calls: number;
  close(): Promise<void>;
}

/** Longer than any timeout of a call here: an answer that comes later never comes. */
const DEADLINE_MS = 30_000;
const MOST_RESIDENT = 1_200 * 1024 * 1024;
const MOST_FAULTS = 50;
const CODES = new Set(Object.keys(CATALOGUE));

/** Starts it. `reply`: how the providers answer. */
export async function startHttpWorld(
  servers: { readonly redisUrl: string; readonly databaseUrl: string },
  reply: (asked: Asked) => Reply,
): Promise<HttpWorld> {
  const tenants = newTenants();
  const faults = new Map<string, string>();
  const fault = (kind: string, detail: string): void => {
    if (faults.size < MOST_FAULTS && !faults.has(kind)) faults.set(kind, `${kind}: ${detail.slice(0, 1_500)}`);
  };
  const provider = await startFuzzProvider(
    (asked) => {
      const mode = tenants.find(({ name }) => name === asked.tenant)?.mode;
      const secret = mode === 'AllowLog' ? undefined : plantedIn(asked.whole);
      if (secret !== undefined) {
        fault(`${mode} sent ${secret} to ${asked.kind.name} as ${asked.family}`, around(asked.whole, secret));
      }
      return reply(asked);
    },
    (text) => fault('provider', text),
  );
  const databaseUrl = await createDatabase(servers.databaseUrl);
  const gateway = await startGateway({
    resources: tenantResources(tenants, provider.url),
    redisUrl: servers.redisUrl,
    databaseUrl,
  });
  const client = new Pool(gateway.url, {
    connections: 24,
    headersTimeout: DEADLINE_MS,
    bodyTimeout: DEADLINE_MS,
    pipelining: 1,
  });
  const expected = new Set<string>();
  let calls = 0;
  return {
    tenants,
    get calls() {
      return calls;
    },
    async call(call) {
      calls += 1;
      const id = await ask(client, call, fault);
      if (id !== undefined) expected.add(id);
    },
    faults: () => [...faults.values()],
    async finish() {
      await settled(gateway, fault);
      await rowsAreThere(databaseUrl, expected, fault);
      await booksAgree(tenants, servers.redisUrl, databaseUrl, fault);
      isSane(gateway, fault);
      return [...faults.values()];
    },
    async close() {
      await client.close();
      await gateway.stop();
      await provider.close();
    },
  };
}

type Fault = (kind: string, detail: string) => void;

function around(text: string, part: string): string {
  const at = text.indexOf(part);
  return text.slice(Math.max(0, at - 300), at + 300);
}

/** Makes one call; the id of its audit row, where it must have one. */
async function ask(client: Pool, call: FuzzCall, fault: Fault): Promise<string | undefined> {
  const { tenant, method, path, headers, body, leaves, sealed } = call;
  const what = `${tenant.mode} ${method} ${path}`;
  const shown = `${JSON.stringify(headers)} ${String(body ?? '').slice(0, 1_000)}`;
  try {
    const answer = await client.request({ method, path, headers, body: body ?? null });
    const { statusCode: status } = answer;
    const id = answer.headers['x-request-id'] ?? answer.headers['request-id'];
    if (leaves) {
      for await (const _first of answer.body) break;
    } else {
      const text = await answer.body.text();
      if (status >= 400) checkFailure(what, status, text, shown, fault);
    }
    if (sealed && typeof id !== 'string')
      fault(`${path} ${status} without an id`, `${leaves} ${JSON.stringify(answer.headers)} ${shown}`);
    return sealed && typeof id === 'string' ? id : undefined;
  } catch (error) {
    if (leaves) return undefined;
    const { code = '', message } = error as { readonly code?: string; readonly message: string };
    // A stream that has begun ends with an error event; a broken connection is a fault.
    fault(`${path} broke off: ${code} ${message}`, shown);
    return undefined;
  }
}

function checkFailure(what: string, status: number, text: string, shown: string, fault: Fault): void {
  if (status === 500) fault(`${what.replace(/^\S+ /, '')} answered 500`, `${shown}\n${text}`);
  if (status === 404 && text === 'Not Found') return;
  try {
    const { error } = JSON.parse(text) as { error?: { code?: string; type?: string; message?: string } };
    const known = error?.code === undefined ? typeof error?.type === 'string' : CODES.has(error.code);
    if (!known || typeof error?.message !== 'string') fault(`${what}: ${status} in no envelope`, `${shown}\n${text}`);
    if (/\bat \S+ \(|node:internal|\/src\/|TypeError|RangeError/.test(error?.message ?? '')) {
      fault(`${what}: ${status} tells of the code`, `${shown}\n${text}`);
    }
  } catch {
    fault(`${what}: ${status} is no JSON`, `${shown}\n${text}`);
  }
}

/** Until nothing is open any more. */
async function settled({ adminUrl }: GatewayProcess, fault: Fault): Promise<void> {
  const names = ['gw_open_calls', 'gw_open_holds', 'gw_pending_rows', 'gw_pending_settlements'];
  let busy: string[] = [];
  for (let waited = 0; waited < DEADLINE_MS; waited += 250) {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    busy = names.filter((name) => Number(new RegExp(`^${name} (\\d+)`, 'm').exec(metrics)?.[1]) !== 0);
    if (busy.length === 0) return;
    await sleep(250);
  }
  fault('does not come to rest', busy.join(', '));
}

async function rowsAreThere(databaseUrl: string, expected: ReadonlySet<string>, fault: Fault): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>('SELECT call_id::text AS id FROM audit_rows');
    const sealed = new Set(rows.map(({ id }) => id));
    if (sealed.size !== rows.length) fault('rows', `${rows.length - sealed.size} calls have two rows`);
    const missing = [...expected].filter((id) => !sealed.has(id));
    if (missing.length > 0) fault('rows', `${missing.length} calls have none, such as ${missing[0]}`);
  } finally {
    await client.end();
  }
}

/** Counters say what the ledger says, to the nano-euro, and no hold is left. */
async function booksAgree(tenants: Tenants, redisUrl: string, databaseUrl: string, fault: Fault): Promise<void> {
  const counters = openRedisCounters({ url: redisUrl, commandTimeoutMs: 10_000 });
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await counters.ping();
    for (const { organization } of tenants) {
      const { spend, holds } = await counters.view(organization);
      if (holds.length > 0) fault('holds', `${organization} has ${holds.length} open holds`);
      const { rows } = await client.query<{ sum: string | null }>(
        'SELECT sum(cost_nano_eur)::text AS sum FROM audit_rows WHERE organization = $1',
        [organization],
      );
      const ledger = BigInt(rows[0]?.sum ?? '0');
      const total = spend.find(({ scope, period }) => scope === 'organization' && period === 'total')?.amount;
      if (total !== undefined && total !== ledger) {
        fault('money', `${organization}: ${total} counted, ${ledger} in the ledger`);
      }
    }
  } finally {
    await client.end();
    await counters.close();
  }
}

function isSane({ pid, log }: GatewayProcess, fault: Fault): void {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  if (!(peak < MOST_RESIDENT)) fault('memory', `the gateway took ${peak} bytes`);
  for (const line of log) {
    if (!line.startsWith('{')) fault('log', `not a line of JSON: ${line}`);
    else if (plantedIn(line) !== undefined) fault('log', `tells content: ${line}`);
    else if (/"level":(50|60)|"level":"(error|fatal)"/.test(line)) fault('log', `an error: ${line}`);
  }
}
