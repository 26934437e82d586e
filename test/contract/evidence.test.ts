import { generateKeyPairSync } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCheckpoint } from '#/seal/checkpoints/checkpoint.ts';
import type { Proof } from '#/seal/export/proof.ts';
import { firstKeptMonth } from '#/seal/verify/cut.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { StrandBuilder } from './ledger-rows.ts';
import { LEDGER_SUBJECTS, openHome, temporaryFolder, type OpenHome } from './ledger-subjects.ts';

/** What is handed to auditors and clients, and what retention leaves, through gwctl alone. */

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const stranger = generateKeyPairSync('ed25519');
let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  await writeFile(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  await writeFile(join(folder, 'key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  await writeFile(join(folder, 'other.pub'), stranger.publicKey.export({ type: 'spki', format: 'pem' }));
});
afterAll(() => rm(folder, { recursive: true }));

const gwctl = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runGwctl(['audit', ...args], { env, cwd: folder });

async function checkpoint(home: OpenHome, at: number): Promise<void> {
  await home.ledger.saveCheckpoint(makeCheckpoint(await home.ledger.heads(), at, privateKey));
}

const ORGANIZATIONS = ['team/acme', 'team/other'];

/** Three strands of two organizations' rows in turn; the third has none of the first organization. */
async function filled(home: OpenHome, at: number): Promise<SealedRow[]> {
  const strands = [new StrandBuilder(), new StrandBuilder(), new StrandBuilder()];
  const rows = strands.flatMap((strand, number) =>
    strand.sealMany(700, (index) => {
      const organization = number === 2 ? 'team/other' : ORGANIZATIONS[index % 2]!;
      return { at: at + index, organization, workload: `${organization}-app` };
    }),
  );
  await home.ledger.append(rows);
  return rows;
}

const DATABASE = LEDGER_SUBJECTS[0]!;
const NOON = Date.UTC(2026, 10, 21, 12);

describe('gwctl audit export', () => {
  test('hands two organizations files that verify, and tell neither of the other', async () => {
    await using home = await openHome(DATABASE);
    const rows = await filled(home, NOON);
    await checkpoint(home, NOON + 60_000);
    const texts: string[] = [];
    for (const [index, organization] of ORGANIZATIONS.entries()) {
      const file = index === 0 ? 'acme.jsonl' : 'other.jsonl.gz';
      const made = await gwctl(['export', '--organization', organization, '--out', file, '--database-url', home.url]);
      expect(made).toMatchObject({ status: 0, err: '' });
      const bytes = await readFile(join(folder, file));
      texts.push((index === 0 ? bytes : gunzipSync(bytes)).toString());
      const verified = await gwctl(['verify', file, '--public-key', 'key.pub', '--json']);
      expect(verified).toMatchObject({ status: 0, err: '' });
      const own = rows.filter((row) => row.organization === organization).length;
      const strands = index === 0 ? 2 : 3;
      expect(JSON.parse(verified.out)).toMatchObject({
        intact: true,
        organization,
        rows: own,
        strands,
        withheld: strands * 700 - own,
        checkpoints: { signaturesChecked: true, count: 1 },
      });
    }
    for (const [index, text] of texts.entries()) {
      const others = rows.filter((row) => row.organization !== ORGANIZATIONS[index]);
      expect(text).not.toContain(ORGANIZATIONS[1 - index]);
      expect(others.some((row) => text.includes(row.callId))).toBe(false);
    }
    const strange = await gwctl(['verify', 'acme.jsonl', '--public-key', 'other.pub']);
    expect(strange.status).toBe(1);
    expect(strange.out).toContain('checkpoint 1: unsigned');
    await writeFile(join(folder, 'short.jsonl'), texts[0]!.slice(0, texts[0]!.length / 2));
    const short = await gwctl(['verify', 'short.jsonl', '--public-key', 'key.pub']);
    expect(short.status).toBe(1);
    expect(short.out).toContain('BROKEN');
    const again = await gwctl([
      'export',
      '--organization',
      'team/acme',
      '--out',
      'acme.jsonl',
      '--database-url',
      home.url,
    ]);
    expect(again.status).toBe(2);
  });
});

describe('gwctl audit prove', () => {
  test('proves each row with nothing but the file, and says what it cannot prove', { timeout: 240_000 }, async () => {
    await using home = await openHome(DATABASE);
    const rows = await filled(home, NOON);
    const env = { DATABASE_URL: home.url };
    const call = rows[350]!.callId;
    const early = await gwctl(['prove', call], env);
    expect(early).toMatchObject({ status: 1, out: '' });
    expect(early.err).toContain('no checkpoint covers yet');
    await checkpoint(home, NOON + 60_000);
    await home.ledger.append(new StrandBuilder().sealMany(1));
    await checkpoint(home, NOON + 120_000);
    for (const [index, row] of [rows[350]!, rows[0]!, rows[2_099]!].entries()) {
      const file = `proof-${index}.json`;
      expect(await gwctl(['prove', row.callId, '--until', '2', '--out', file], env)).toMatchObject({ status: 0 });
      const verified = await gwctl(['verify', file, '--public-key', 'key.pub']);
      expect(verified.out).toContain(`intact: call ${row.callId} is row ${row.sequence} of strand ${row.strand}`);
      expect(verified.out).toContain('checkpoint 2 has the hash');
      expect(verified.status).toBe(0);
    }
    const proof = JSON.parse(await readFile(join(folder, 'proof-0.json'), 'utf8')) as Proof;
    const changes: readonly Partial<Proof>[] = [
      { row: proof.row.replace('"status":200', '"status":500') },
      { before: 'f'.repeat(64) },
      { after: proof.after.slice(1) },
      { after: proof.after.with(3, 'f'.repeat(64)) },
      { head: { ...proof.head, sequence: proof.head.sequence + 1 } },
      { path: { ...proof.path, index: (proof.path.index + 1) % 3 } },
      { path: { ...proof.path, hashes: [] } },
      { checkpoint: { ...proof.checkpoint, signature: '00'.repeat(64) } },
      { checkpoint: proof.chain[0]! },
      { chain: [proof.checkpoint] },
      { call_id: rows[1]!.callId },
    ];
    for (const [index, change] of changes.entries()) {
      await writeFile(join(folder, 'forged.json'), JSON.stringify({ ...proof, ...change }));
      const verified = await gwctl(['verify', 'forged.json', '--public-key', 'key.pub']);
      expect(verified.status, `change ${index}`).toBe(1);
      expect(verified.out).toContain('BROKEN');
    }
    expect((await gwctl(['verify', 'proof-0.json', '--public-key', 'other.pub'])).status).toBe(1);
    const unknown = await gwctl(['prove', '019aa000-0000-7000-8000-000000000000'], env);
    expect(unknown).toMatchObject({ status: 1, err: 'the ledger has no row of this call\n' });
  });
});

describe.each(LEDGER_SUBJECTS)('gwctl audit retain in $name', (subject) => {
  test('drops whole months, and what stays verifies, sums and proves as before', { timeout: 240_000 }, async () => {
    await using home = await openHome(subject);
    const now = Date.now();
    const months = [3, 2, 1, 0].map((back) => Date.parse(`${firstKeptMonth(now, back)}-01T00:00:00Z`));
    for (const month of months) await home.ledger.maintain(month);
    const strands = [new StrandBuilder(), new StrandBuilder()];
    const last = new Map<number, SealedRow>();
    for (const month of months) {
      const rows = strands.flatMap((strand, number) =>
        // The first strand seals one call of the month before, late.
        strand.sealMany(30, (index) => ({ at: number === 0 && index === 4 ? month - 1_000 : month + index * 1_000 })),
      );
      await home.ledger.append(rows);
      await checkpoint(home, month + 60_000);
      last.set(month, rows.at(-1)!);
    }
    const run = (...args: readonly string[]) => gwctl([...args, '--database-url', home.url]);
    const verify = () => run('verify', '--public-key', 'key.pub');
    const totals = await home.ledger.totals('team/acme', 'UTC', now, []);
    expect((await verify()).status).toBe(0);
    const planned = await run('retain', '--months', '2', '--key-file', 'key.pem', '--dry-run');
    expect(planned.out).toContain(`would drop rows of calls before ${firstKeptMonth(now, 2)}`);
    expect((await run('retain', '--months', '2', '--key-file', 'key.pem')).out).toContain('checkpoint 5 records it');
    const after = await verify();
    expect(after.out).toContain('intact: ');
    expect(after.out).toContain(`calls before ${firstKeptMonth(now, 2)} were dropped by retention`);
    expect(after.out).toContain('1 row kept as hashes only');
    expect(after.status).toBe(0);
    const { rows } = await home.client.query<{ count: string }>('SELECT count(*) FROM audit_rows');
    expect(rows[0]!.count).toBe('179');
    // Once more, a month further: the kept hash goes, and another one is kept.
    expect((await run('retain', '--months', '1', '--key-file', 'key.pem')).status).toBe(0);
    const further = await verify();
    expect(further).toMatchObject({ status: 0, err: '' });
    expect(further.out).toContain('1 row kept as hashes only');
    expect((await run('retain', '--months', '1', '--key-file', 'key.pem')).out).toContain('no rows of calls before');
    expect(await home.ledger.totals('team/acme', 'UTC', now, [])).toEqual(totals);
    await home.ledger.append(strands.flatMap((strand) => strand.sealMany(2, () => ({ at: now }))));
    await checkpoint(home, now);
    expect((await verify()).status).toBe(0);
    await expect(home.client.query('DELETE FROM audit_withheld')).rejects.toThrow('append-only');
    await expect(home.client.query('DELETE FROM audit_superseded')).resolves.toBeDefined();
    await expect(home.client.query('UPDATE audit_rows SET workload = workload')).rejects.toThrow('append-only');
    const proof = await run('prove', last.get(months[3]!)!.callId, '--out', `proof-${subject.name}.json`);
    expect(proof.status).toBe(0);
    expect((await gwctl(['verify', `proof-${subject.name}.json`, '--public-key', 'key.pub'])).status).toBe(0);
    const file = `export-${subject.name}.jsonl`;
    expect((await run('export', '--organization', 'team/acme', '--out', file)).status).toBe(0);
    expect((await gwctl(['verify', file, '--public-key', 'key.pub'])).status).toBe(0);
  });
});

describe('gwctl audit retain', () => {
  test('leaves a ledger alone that is not intact, or whose key it does not have', async () => {
    await using home = await openHome(DATABASE);
    const old = Date.parse(`${firstKeptMonth(Date.now(), 3)}-01T00:00:00Z`);
    await home.ledger.maintain(old);
    await home.ledger.append(new StrandBuilder().sealMany(9, () => ({ at: old })));
    await checkpoint(home, Date.now());
    await writeFile(join(folder, 'other.pem'), stranger.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const env = { DATABASE_URL: home.url };
    const strange = await gwctl(['retain', '--months', '1', '--key-file', 'other.pem'], env);
    expect(strange).toMatchObject({ status: 1, err: 'the ledger is not intact: nothing was dropped\n' });
    await home.client.query('SET session_replication_role = replica');
    await home.client.query('UPDATE audit_rows SET cost_nano_eur = 1 WHERE sequence = 4');
    const edited = await gwctl(['retain', '--months', '1', '--key-file', 'key.pem'], env);
    expect(edited.status).toBe(1);
    expect(edited.out).toContain('row 4');
    const { rows } = await home.client.query<{ count: string }>('SELECT count(*) FROM audit_rows');
    expect(rows[0]!.count).toBe('9');
    for (const [args, reason] of [
      [['--months', '0'], 'from 1 on'],
      [[], '--months is missing'],
      [['--months', '1', '--key-file', 'none.pem'], 'no file'],
    ] as const)
      expect(await gwctl(['retain', ...args], env)).toMatchObject({
        status: 2,
        err: expect.stringContaining(reason) as string,
      });
  });
});
