import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { UsageQuestion } from '#/ports/usage.ts';
import { makeCheckpoint } from '#/seal/checkpoints/checkpoint.ts';
import { StrandBuilder } from '../contract/ledger-rows.ts';
import { createDatabase, dropDatabase, startPostgres } from '../harness/postgres.ts';
import { LARGE_ORGANIZATION, loadLedger } from './ledger-load.ts';
import { quantile } from './load.ts';
import { cpuMicroseconds, residentBytes } from './processes.ts';

/**
 * The ledger at size, on a server of its own: what usage costs to ask, how fast and in how much memory the chain is
 * verified and exported, and what keeping sums adds to writing. Needs about 2 KiB of disk a row, for as long as it runs,
 * and as much again for the export. BENCH_LEDGER_URL names a ledger that was loaded before, to be measured as it is.
 */
const ROWS = Number(process.env['BENCH_ROWS'] ?? 10_000_000);
const FROM = Date.UTC(2026, 7, 1);
const UNTIL = Date.UTC(2026, 10, 21);
const RUNS = 50;
const BATCH = 500;
const EXPORTED_ROWS = 2_200_000;
/** What a row of the bench takes in an export, quotes escaped, and about a fourth of a hash. */
const EXPORTED_ROW_BYTES = 1_300;

const report: Record<string, unknown> = { rows: ROWS };
const say = (name: string, value: unknown): void => {
  report[name] = value;
  process.stdout.write(`${name}: ${JSON.stringify(value)}\n`);
};
const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10;

await using cleanup = new AsyncDisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'gatewarden-bench-'));
cleanup.defer(() => rmSync(folder, { recursive: true }));
const loaded = process.env['BENCH_LEDGER_URL'];
const url = loaded ?? (await startServer());
const ledger = await openPostgresLedger({ connectionString: url });
cleanup.defer(() => ledger.close());
const client = new pg.Client({ connectionString: url });
await client.connect();
cleanup.defer(() => client.end());
if (loaded === undefined) {
  for (let month = FROM; month < UNTIL; month += 27 * 86_400_000) await ledger.maintain(month);
  await load();
}
const publicKey = await checkpoint();

await askUsage();
await verify();
await exportRows();
await check();
await compareAppends();
mkdirSync('bench-results', { recursive: true });
writeFileSync('bench-results/ledger.json', `${JSON.stringify(report, undefined, 2)}\n`);

async function startServer(): Promise<string> {
  const server = await startPostgres({ control: true });
  cleanup.defer(() => server.stop());
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  for (const setting of ["max_wal_size = '4GB'", "shared_buffers = '1GB'", "maintenance_work_mem = '512MB'"])
    await admin.query(`ALTER SYSTEM SET ${setting}`);
  await admin.end();
  await server.restart();
  return server.url;
}

/** A checkpoint over all there is, where there is none; returns the file of the key it is verified with. */
async function checkpoint(): Promise<string | undefined> {
  const input = await ledger.heads();
  if (input.last) return undefined;
  const keys = generateKeyPairSync('ed25519');
  await ledger.saveCheckpoint(makeCheckpoint(input, UNTIL, keys.privateKey));
  const file = join(folder, 'key.pub');
  writeFileSync(file, keys.publicKey.export({ type: 'spki', format: 'pem' }));
  return file;
}

async function load(): Promise<void> {
  const began = performance.now();
  await client.query("SET work_mem = '256MB'");
  await loadLedger(client, { rows: ROWS, from: FROM, until: UNTIL }, (rows) => {
    if (rows % 1_000_000 === 0) process.stdout.write(`  ${rows} rows after ${seconds(began)} s\n`);
  });
  say('loaded, s', seconds(began));
  const sizes = await client.query(`SELECT pg_database_size(current_database())::bigint / 1048576 AS database_mib,
    (SELECT count(*) FROM audit_usage) AS quarters, (SELECT count(*) FROM audit_usage_days) AS days`);
  say('size', sizes.rows[0]);
}

async function askUsage(): Promise<void> {
  const month = { organization: LARGE_ORGANIZATION, from: '2026-10-01', to: '2026-10-31' };
  const questions: Readonly<Record<string, UsageQuestion>> = {
    'by workload, model and day, UTC': { ...month, timeZone: 'UTC', by: ['workload', 'model', 'day'] },
    'by workload and model, Berlin': { ...month, timeZone: 'Europe/Berlin', by: ['workload', 'model'] },
    'by day, Berlin': { ...month, timeZone: 'Europe/Berlin', by: ['day'] },
    'by workload, model and day, Berlin': { ...month, timeZone: 'Europe/Berlin', by: ['workload', 'model', 'day'] },
    'by workload, model and day, Kolkata': { ...month, timeZone: 'Asia/Kolkata', by: ['workload', 'model', 'day'] },
    'of one workload by model and day, Kolkata': {
      ...month,
      workload: 'production/app-3',
      timeZone: 'Asia/Kolkata',
      by: ['model', 'day'],
    },
  };
  for (const [name, question] of Object.entries(questions)) {
    const times: number[] = [];
    let lines = 0;
    for (let run = 0; run < RUNS; run++) {
      const began = performance.now();
      lines = (await ledger.usage(question)).lines.length;
      times.push(performance.now() - began);
    }
    times.sort((a, b) => a - b);
    const round = (value: number): number => Math.round(value * 10) / 10;
    say(`usage ${name}, ms`, { p50: round(quantile(times, 0.5)), p95: round(quantile(times, 0.95)), lines });
  }
}

async function verify(): Promise<void> {
  const key = publicKey === undefined ? [] : ['--public-key', publicKey];
  const { status, told, took, cpu, server, resident } = await watch(['audit', 'verify', ...key]);
  say('verify', {
    status,
    told: told.split('\n')[0],
    s: Math.round(took),
    rows_per_s: Math.round(ROWS / took),
    cpu_us_per_row: perRow(cpu),
    server_us_per_row: perRow(server),
  });
  say('resident while verifying, MiB', some(resident));
}

/** Of the organization that has most rows; stopped after some millions: it is memory that is looked at. */
async function exportRows(): Promise<void> {
  const file = join(folder, 'export.jsonl');
  const written = (): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const args = ['audit', 'export', '--organization', LARGE_ORGANIZATION, '--out', file];
  const { status, took, cpu, resident } = await watch(args, () => written() > EXPORTED_ROWS * EXPORTED_ROW_BYTES);
  const rows = Math.round(written() / EXPORTED_ROW_BYTES);
  say('export', {
    status,
    rows,
    rows_per_s: Math.round(rows / took),
    cpu_us_per_row: Math.round((cpu / rows) * 10) / 10,
  });
  say('resident while exporting, MiB', some(resident));
  rmSync(file, { force: true });
}

function perRow(cpu: number): number {
  return Math.round((cpu / ROWS) * 100) / 100;
}

/** Twelve values at equal distances, and the last. */
function some(values: readonly number[]): readonly number[] {
  const kept = values.filter((_, index) => index % Math.ceil(values.length / 12) === 0);
  return [...kept, ...values.slice(-1)];
}

interface Watched {
  readonly status: number | null;
  readonly told: string;
  /** Seconds. */
  readonly took: number;
  /** Microseconds of the process, and of what serves it. */
  readonly cpu: number;
  readonly server: number;
  /** MiB, once a second. */
  readonly resident: readonly number[];
}

/** Runs gwctl on the ledger, and ends it when there is `enough`. */
async function watch(args: readonly string[], enough: () => boolean = () => false): Promise<Watched> {
  const gwctl = new URL('../../src/cli/gwctl.ts', import.meta.url).pathname;
  const began = performance.now();
  const child = spawn(process.execPath, [gwctl, ...args, '--database-url', url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { rows: before } = await client.query<{ pid: number }>('SELECT pid FROM pg_stat_activity');
  const others = new Set(before.map(({ pid }) => pid));
  const backends = new Map<number, number>();
  const resident: number[] = [];
  let [cpu, told] = [0, ''];
  const look = async (): Promise<void> => {
    resident.push(Math.round(residentBytes(child.pid!) / 1024 ** 2));
    cpu = cpuMicroseconds(child.pid!);
    const { rows } = await client.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'gatewarden'",
    );
    for (const { pid } of rows) if (!others.has(pid)) backends.set(pid, cpuMicroseconds(pid));
    if (enough()) child.kill();
  };
  // What has ended meanwhile is not looked at.
  const timer = setInterval(() => void look().catch(() => {}), 1000);
  child.stdout.on('data', (chunk: Buffer) => (told += chunk.toString('utf8')));
  const status = await new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  clearInterval(timer);
  const server = [...backends.values()].reduce((sum, each) => sum + each, 0);
  return { status, told, took: (performance.now() - began) / 1000, cpu, server, resident };
}

async function check(): Promise<void> {
  const began = performance.now();
  const differences = await ledger.usageDifferences();
  say('usage held against rows', { s: seconds(began), differences: differences.length });
}

/** Writes batches with and without the trigger, in turns. */
async function compareAppends(): Promise<void> {
  const own = await createDatabase(url);
  const fresh = await openPostgresLedger({ connectionString: own, maxConnections: 1 });
  const beside = new pg.Client({ connectionString: own });
  await beside.connect();
  const { rows } = await beside.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'gatewarden'",
  );
  const strand = new StrandBuilder();
  const spent = { plain: { ms: 0, cpu: 0, rows: 0 }, summed: { ms: 0, cpu: 0, rows: 0 } };
  for (let round = 0; round < 12; round++) {
    for (const kind of round % 2 === 0 ? (['plain', 'summed'] as const) : (['summed', 'plain'] as const)) {
      const batches = Array.from({ length: 20 }, (_, batch) =>
        strand.sealMany(BATCH, (index) => ({ at: Date.now() + batch, workload: `team/w${index % 20}` })),
      );
      await beside.query(`ALTER TABLE audit_rows ${kind === 'summed' ? 'ENABLE' : 'DISABLE'} TRIGGER count_usage`);
      const [began, cpu] = [performance.now(), cpuMicroseconds(rows[0]!.pid)];
      for (const batch of batches) await fresh.append(batch);
      spent[kind].ms += performance.now() - began;
      spent[kind].cpu += cpuMicroseconds(rows[0]!.pid) - cpu;
      spent[kind].rows += batches.length * BATCH;
    }
  }
  const { plain, summed } = spent;
  const rate = ({ ms, rows: count }: { ms: number; rows: number }): number => Math.round((count / ms) * 1000);
  const server_us = ({ cpu, rows: count }: { cpu: number; rows: number }): number =>
    Math.round((cpu / count) * 10) / 10;
  say('append, rows/s', {
    plain: rate(plain),
    summed: rate(summed),
    ratio: Math.round((rate(summed) / rate(plain)) * 100) / 100,
  });
  say('append, µs of the server a row', { plain: server_us(plain), summed: server_us(summed) });
  await beside.end();
  await fresh.close();
  await dropDatabase(url, own);
}
