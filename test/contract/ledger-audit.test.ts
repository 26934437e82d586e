import { generateKeyPairSync } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { makeCheckpoint, statementHash } from '#/seal/checkpoints/checkpoint.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { editText, StrandBuilder } from './ledger-rows.ts';
import { embeddedDataDir, LEDGER_SUBJECTS, openHome, temporaryFolder, type OpenHome } from './ledger-subjects.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
let folder: string;
let keyFile: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  keyFile = join(folder, 'checkpoints.pem');
  await writeFile(keyFile, publicKey.export({ type: 'spki', format: 'pem' }));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const gwctl = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runGwctl(args, { env, cwd: folder });

interface Report {
  readonly intact: boolean;
  readonly rows: number;
  readonly faults: readonly Record<string, unknown>[];
  readonly checkpoints: { readonly fault?: Record<string, unknown>; readonly count: number };
  readonly sums: readonly unknown[];
}

async function verifyJson(home: OpenHome, ...args: readonly string[]): Promise<Report> {
  const answer = await gwctl([
    'audit',
    'verify',
    '--database-url',
    home.url,
    '--json',
    '--public-key',
    keyFile,
    ...args,
  ]);
  expect(answer.err).toBe('');
  const report = JSON.parse(answer.out) as Report;
  expect(answer.status).toBe(report.intact ? 0 : 1);
  return report;
}

/** Two strands of sixty rows; `checkpoint` signs where they are. */
async function filled(home: OpenHome): Promise<{ rows: SealedRow[]; checkpoint: () => Promise<string> }> {
  const strands = [new StrandBuilder(), new StrandBuilder()];
  const rows = strands[0]!.sealMany(60);
  await home.ledger.append([...rows, ...strands[1]!.sealMany(60)]);
  return { rows, checkpoint: () => saveCheckpoint(home.ledger) };
}

async function saveCheckpoint(ledger: PostgresLedger): Promise<string> {
  const checkpoint = makeCheckpoint(await ledger.heads(), Date.UTC(2026, 10, 21, 10), privateKey);
  await ledger.saveCheckpoint(checkpoint);
  return statementHash(checkpoint.statement);
}

/** Changes the database behind the ledger's back: as a superuser, past the triggers. */
async function tamper(client: pg.Client, sql: string, values: readonly unknown[] = []): Promise<void> {
  await client.query('SET session_replication_role = replica');
  const { rowCount } = await client.query(sql, [...values]);
  expect(rowCount).toBeGreaterThan(0);
  await client.query('RESET session_replication_role');
}

describe('gwctl audit verify', () => {
  const subject = LEDGER_SUBJECTS[0]!;

  test('finds an intact ledger intact', async () => {
    await using home = await openHome(subject);
    const { checkpoint } = await filled(home);
    const anchor = await checkpoint();
    expect(await verifyJson(home, '--anchor', anchor)).toMatchObject({ intact: true, rows: 120, faults: [], sums: [] });
    const spoken = await gwctl(['audit', 'verify'], { DATABASE_URL: home.url });
    expect(spoken).toMatchObject({ status: 0, err: '' });
    expect(spoken.out).toContain('intact: 120 rows in 2 strands');
    expect(spoken.out).toContain('signatures not checked');
  });

  test('finds a field that was edited', async () => {
    await using home = await openHome(subject);
    const { rows } = await filled(home);
    const { strand, callId } = rows[20]!;
    await tamper(home.client, 'UPDATE audit_rows SET cost_nano_eur = 1 WHERE call_id = $1', [callId]);
    const report = await verifyJson(home);
    expect(report.faults).toMatchObject([{ strand, sequence: 21, callId, kind: 'edited' }]);
    expect(report.sums).toHaveLength(1);
    const spoken = await gwctl(['audit', 'verify', '--database-url', home.url]);
    expect(spoken.status).toBe(1);
    expect(spoken.out).toContain(`strand ${strand}, row 21, call ${callId}: edited`);
    expect(spoken.out).toContain('cost (stored 1, sealed 21000)');
  });

  test('finds a call that is counted twice, although the key that forbids it was dropped', async () => {
    await using home = await openHome(subject);
    const [first, second] = ['1', '2'].map((end) => new StrandBuilder(`019aa000-0000-7000-8000-00000000000${end}`));
    const rows = first!.sealMany(9);
    await home.ledger.append(rows);
    const again = second!.seal({ callId: rows[4]!.callId, at: rows[4]!.at });
    await home.ledger.append([again, ...second!.sealMany(3)]);
    expect(await verifyJson(home)).toMatchObject({ intact: true, superseded: 1, rows: 13 });
    await home.client.query('ALTER TABLE audit_rows DROP CONSTRAINT audit_rows_pkey');
    const columns = 'call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link';
    await tamper(home.client, `INSERT INTO audit_rows (${columns}) SELECT ${columns} FROM audit_superseded`, []);
    await tamper(home.client, 'DELETE FROM audit_superseded', []);
    const report = await verifyJson(home);
    const { strand, callId } = again;
    expect(report.faults).toMatchObject([{ strand, sequence: 1, callId, kind: 'duplicate', after: { rows: 3 } }]);
  });

  test('finds a text that was edited together with its columns and its sum', async () => {
    await using home = await openHome(subject);
    const { rows } = await filled(home);
    const { strand, callId, row } = rows[20]!;
    const edited = editText(row, { cost_nano_eur: '1' });
    await tamper(home.client, 'UPDATE audit_rows SET cost_nano_eur = 1, row_text = $2 WHERE call_id = $1', [
      callId,
      edited,
    ]);
    await tamper(home.client, 'UPDATE audit_spend SET cost_nano_eur = cost_nano_eur - 20999 WHERE strand = $1', [
      strand,
    ]);
    const report = await verifyJson(home);
    expect(report).toMatchObject({ faults: [{ strand, sequence: 21, callId, kind: 'edited' }], sums: [] });
  });

  test('finds a row that was deleted', async () => {
    await using home = await openHome(subject);
    const { rows } = await filled(home);
    await tamper(home.client, 'DELETE FROM audit_rows WHERE call_id = ANY ($1)', [
      [rows[20]!.callId, rows[21]!.callId],
    ]);
    const report = await verifyJson(home);
    expect(report.faults).toMatchObject([
      { sequence: 21, kind: 'removed', missing: { from: 21, to: 22 }, callId: rows[22]!.callId },
    ]);
  });

  test('finds a forged row', async () => {
    await using home = await openHome(subject);
    const { rows } = await filled(home);
    const forged = new StrandBuilder(rows[0]!.strand).sealMany(21)[20]!;
    await home.ledger.append([forged]);
    const report = await verifyJson(home);
    expect(report.faults).toMatchObject([{ sequence: 21, callId: forged.callId, kind: 'inserted' }]);
  });

  test('finds two rows whose numbers were swapped', async () => {
    await using home = await openHome(subject);
    const { rows } = await filled(home);
    const [a, b] = [rows[20]!, rows[40]!];
    await tamper(
      home.client,
      'UPDATE audit_rows SET sequence = CASE sequence WHEN 21 THEN 41 ELSE 21 END WHERE call_id IN ($1, $2)',
      [a.callId, b.callId],
    );
    const report = await verifyJson(home);
    expect(report.faults).toMatchObject([
      {
        sequence: 21,
        callId: b.callId,
        kind: 'swapped',
        detail: expect.stringContaining('row 21 is stored as number 41') as string,
      },
    ]);
  });

  test('finds an end that was cut off, when a checkpoint knows of it', async () => {
    await using home = await openHome(subject);
    const { rows, checkpoint } = await filled(home);
    const cut = (from: number) =>
      tamper(home.client, 'DELETE FROM audit_rows WHERE strand = $1 AND sequence >= $2', [rows[0]!.strand, from]);
    await cut(59);
    expect((await verifyJson(home)).faults).toEqual([]);
    await checkpoint();
    await cut(55);
    const report = await verifyJson(home);
    expect(report.faults).toMatchObject([
      { strand: rows[0]!.strand, sequence: 55, kind: 'removed', missing: { from: 55, to: 58 } },
    ]);
    const spoken = await gwctl(['audit', 'verify', '--database-url', home.url]);
    expect(spoken.out).toContain('rows 55 to 58: removed');
  });

  test('finds a strand that was sealed anew, when a checkpoint knows of it', async () => {
    await using home = await openHome(subject);
    const { rows, checkpoint } = await filled(home);
    await checkpoint();
    const { strand } = rows[0]!;
    await tamper(home.client, 'DELETE FROM audit_rows WHERE strand = $1', [strand]);
    await tamper(home.client, 'DELETE FROM audit_spend WHERE strand = $1', [strand]);
    await home.ledger.append(new StrandBuilder(strand).sealMany(60, () => ({ cost: 1n })));
    const report = await verifyJson(home);
    expect(report).toMatchObject({ faults: [{ strand, sequence: 60, kind: 'rewritten' }], sums: [] });
  });

  test('finds checkpoints that were edited, removed and cut off', async () => {
    await using home = await openHome(subject);
    await filled(home);
    const hashes: string[] = [];
    for (let number = 1; number <= 4; number++) {
      await home.ledger.append(new StrandBuilder().sealMany(2));
      hashes.push(await saveCheckpoint(home.ledger));
    }
    expect(await verifyJson(home, '--anchor', hashes[3]!)).toMatchObject({ intact: true });
    await tamper(home.client, 'DELETE FROM checkpoint_heads WHERE checkpoint = 4');
    await tamper(home.client, 'DELETE FROM checkpoints WHERE number = 4');
    expect(await verifyJson(home)).toMatchObject({ intact: true });
    expect((await verifyJson(home, '--anchor', hashes[3]!)).checkpoints.fault).toMatchObject({ kind: 'removed' });
    await tamper(home.client, 'UPDATE checkpoint_heads SET sequence = sequence + 1 WHERE checkpoint = 3');
    expect((await verifyJson(home)).checkpoints.fault).toMatchObject({ number: 3, kind: 'edited' });
    await tamper(home.client, 'DELETE FROM checkpoint_heads WHERE checkpoint = 2');
    await tamper(home.client, 'DELETE FROM checkpoints WHERE number = 2');
    const report = await verifyJson(home);
    expect(report).toMatchObject({ intact: false, faults: [] });
    expect(report.checkpoints.fault).toMatchObject({ number: 3 });
  });

  test('finds a sum that was changed', async () => {
    await using home = await openHome(subject);
    await filled(home);
    await tamper(home.client, 'UPDATE audit_spend SET cost_nano_eur = 0');
    const report = await verifyJson(home);
    expect(report).toMatchObject({
      intact: false,
      faults: [],
      sums: [{ organization: 'team/acme', workload: 'team/support', stored: '0', counted: '3660000' }],
    });
  });
});

describe('gwctl audit verify on an embedded gateway', () => {
  test('works while it runs, and when it has stopped', { timeout: 120_000 }, async () => {
    await using folders = new AsyncDisposableStack();
    const dataDir = folders.adopt(await embeddedDataDir(), (path) => rm(path, { recursive: true }));
    const database = await openEmbeddedPostgres({ dataDir });
    const ledger = await openPostgresLedger({ connectionString: database.connectionString });
    await ledger.append(new StrandBuilder().sealMany(2_500));
    const running = await gwctl(['audit', 'verify', '--data-dir', dataDir]);
    expect(running).toMatchObject({ status: 0, err: '' });
    expect(running.out).toContain('intact: 2500 rows in 1 strand,');
    await ledger.append(new StrandBuilder().sealMany(1));
    await ledger.close();
    await database.close();
    const stopped = await gwctl(['audit', 'verify'], { GW_DATA_DIR: dataDir });
    expect(stopped).toMatchObject({ status: 0, err: '' });
    expect(stopped.out).toContain('intact: 2501 rows in 2 strands');
  });

  test('finds a row that was deleted', async () => {
    await using home = await openHome(LEDGER_SUBJECTS[1]!);
    const { rows } = await filled(home);
    await tamper(home.client, 'DELETE FROM audit_rows WHERE call_id = $1', [rows[20]!.callId]);
    const report = await verifyJson(home);
    expect(report.faults).toMatchObject([{ sequence: 21, kind: 'removed', callId: rows[21]!.callId }]);
  });
});

describe('gwctl audit verify says why it cannot, and ends with 2', () => {
  test.each([
    [['--database-url', 'postgres://user:hunter2@127.0.0.1:1/db'], 'cannot be reached'],
    [['--database-url', 'mysql://x'], 'takes a postgres:// URL'],
    [['--data-dir', '/nonexistent'], 'no embedded database'],
    [['--database-url', 'postgres://x', '--data-dir', '/y'], 'not both'],
    [['--public-key', '/nonexistent.pem'], 'no file'],
    [['--public-key', '/etc/passwd'], 'no public key'],
    [['--anchor', 'abc'], '64 hexadecimal digits'],
    [['--what'], "Unknown option '--what'"],
    [['extra'], 'extra'],
  ])('%j', async (args, reason) => {
    const answer = await gwctl(['audit', 'verify', ...args], { DATABASE_URL: 'postgres://127.0.0.1:1/x' });
    expect(answer).toMatchObject({ status: 2, out: '' });
    expect(answer.err).toMatch(/^gwctl: .+\n$/);
    expect(answer.err).toContain(reason);
    expect(answer.err).not.toContain('hunter2');
    expect(answer.err).not.toContain('    at ');
  });

  test('a database without a ledger', async () => {
    await using home = await openHome(LEDGER_SUBJECTS[0]!);
    await home.client.query('DROP TABLE audit_rows CASCADE');
    const answer = await gwctl(['audit', 'verify', '--database-url', home.url]);
    expect(answer).toMatchObject({ status: 2, err: 'gwctl: this database holds no audit ledger\n' });
  });
});
