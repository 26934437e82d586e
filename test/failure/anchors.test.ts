import { generateKeyPairSync } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openS3Anchors, type S3AnchorStore } from '#/adapters/s3/anchor-store.ts';
import { S3Client } from '#/adapters/s3/signed-request.ts';
import { anchoredStatements, createAnchorer } from '#/seal/background/anchorer.ts';
import { makeCheckpoint } from '#/seal/checkpoints/checkpoint.ts';
import { StrandBuilder } from '../contract/ledger-rows.ts';
import { LEDGER_SUBJECTS, openHome, temporaryFolder, type OpenHome } from '../contract/ledger-subjects.ts';
import { runGwctl } from '../harness/gwctl.ts';
import { hasS3, startS3, type S3Server } from '../harness/s3.ts';
import { skipUnless } from '../harness/skip.ts';

/** Copies of checkpoints in object storage, against somebody who has the database and the signing key. */

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const credentials = { accessKeyId: 'test', secretAccessKey: 'secret' };
const BUCKET = 'evidence';

describe('copies of checkpoints', skipUnless(hasS3, 'no stand-in for S3: tools/setup.sh s3'), () => {
  let server: S3Server;
  let client: S3Client;
  let folder: string;
  beforeAll(async () => {
    server = await startS3();
    client = new S3Client(address());
    folder = await temporaryFolder();
    await writeFile(join(folder, 'key.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    const headers = { 'x-amz-bucket-object-lock-enabled': 'true' };
    const { status } = await client.send({ method: 'PUT', key: '', headers });
    if (status !== 200) throw new Error(`the bucket was not made: ${status}`);
  });
  afterAll(async () => {
    await client.close();
    server.stop();
    await rm(folder, { recursive: true });
  });

  function address() {
    const region = 'us-east-1';
    return { bucket: BUCKET, endpoint: server.url, region, credentials: () => Promise.resolve(credentials) };
  }

  function storeAt(prefix: string): S3AnchorStore {
    return openS3Anchors({ ...address(), prefix, mode: 'COMPLIANCE', retentionDays: 30 });
  }

  async function grown(home: OpenHome, count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await home.ledger.append(new StrandBuilder().sealMany(3));
      await home.ledger.saveCheckpoint(makeCheckpoint(await home.ledger.heads(), Date.now(), privateKey));
    }
  }

  function gwctl(home: OpenHome, prefix: string, ...args: readonly string[]) {
    const env = {
      DATABASE_URL: home.url,
      GW_ANCHOR_URL: `s3://${BUCKET}/${prefix}`,
      GW_ANCHOR_ENDPOINT: server.url,
      GW_ANCHOR_RETENTION_DAYS: '30',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
    return runGwctl(args, { env, cwd: folder });
  }

  test('cannot be written over nor deleted while they are locked', async () => {
    const store = storeAt('locked');
    await store.put({ number: 7, body: '{"statement":"first"}' });
    await store.put({ number: 7, body: '{"statement":"second"}' });
    expect(await anchoredStatements(store)).toEqual(new Map([[7, ['first']]]));
    const key = 'locked/00000007.json';
    const versions = await client.send({ method: 'GET', key: '', query: { versions: '', prefix: 'locked/' } });
    const versionId = /<VersionId>([^<]+)</.exec(versions.bytes.toString('utf8'))![1]!;
    const removed = await fetch(`${server.url}/${BUCKET}/${key}?versionId=${versionId}`, { method: 'DELETE' });
    expect(removed.status).toBe(403);
    const insisting = { method: 'DELETE', headers: { 'x-amz-bypass-governance-retention': 'true' } };
    expect((await fetch(`${server.url}/${BUCKET}/${key}?versionId=${versionId}`, insisting)).status).toBe(403);
    // Written over by who does not ask first: the first version is there still, and both are compared.
    await client.send({ method: 'PUT', key, body: '{"statement":"third"}' });
    expect((await anchoredStatements(store)).get(7)).toEqual(['first', 'third']);
    await store.close();
  });

  test('are made of what is missing, as often as asked, and go on after a fault', { timeout: 240_000 }, async () => {
    await using home = await openHome(LEDGER_SUBJECTS[0]!);
    await grown(home, 4);
    const faults: unknown[] = [];
    const store = storeAt('some');
    let reachable = false;
    const anchorer = createAnchorer({
      checkpoints: home.ledger,
      store: {
        ...store,
        put: (record) => (reachable ? store.put(record) : Promise.reject(new Error('not reachable'))),
      },
      every: 2,
      onFault: (error) => void faults.push(error),
    });
    expect(anchorer.lag).toBe(-1);
    await anchorer.run();
    expect(faults).toHaveLength(1);
    expect(anchorer.lag).toBe(2);
    reachable = true;
    await anchorer.run();
    expect(anchorer.lag).toBe(0);
    await grown(home, 1);
    await anchorer.run();
    expect(anchorer.lag).toBe(1);
    expect([...(await anchoredStatements(store)).keys()]).toEqual([2, 4]);
    // Another process finds its place again.
    await grown(home, 1);
    await createAnchorer({
      checkpoints: home.ledger,
      store,
      every: 2,
      onFault: (error) => void faults.push(error),
    }).run();
    expect([...(await anchoredStatements(store)).keys()]).toEqual([2, 4, 6]);
    expect(faults).toHaveLength(1);
    await store.close();
  });

  test('tell of a history that was made anew with the genuine key', { timeout: 240_000 }, async () => {
    await using home = await openHome(LEDGER_SUBJECTS[0]!);
    await grown(home, 3);
    const copied = await gwctl(home, 'history', 'audit', 'anchor');
    expect(copied).toMatchObject({ status: 0, out: '3 checkpoints copied to s3://evidence/history\n' });
    expect((await gwctl(home, 'history', 'audit', 'anchor')).out).toContain('0 checkpoints copied');
    const verify = ['audit', 'verify', '--public-key', 'key.pub', '--anchor', `s3://${BUCKET}/history`];
    const before = await gwctl(home, 'history', ...verify);
    expect(before).toMatchObject({ status: 0, err: '' });
    expect(before.out).toContain('3 copies in object storage compared, the last of checkpoint 3');
    // All of it, from the first row on.
    await home.client.query('SET session_replication_role = replica');
    await home.client.query('TRUNCATE audit_rows, audit_spend, checkpoints, checkpoint_heads CASCADE');
    await home.client.query('RESET session_replication_role');
    await grown(home, 3);
    expect(await gwctl(home, 'history', 'audit', 'verify', '--public-key', 'key.pub')).toMatchObject({ status: 0 });
    const after = await gwctl(home, 'history', ...verify);
    expect(after.status).toBe(1);
    expect(after.out).toContain('checkpoint 1: edited\n  the anchor has a different statement with this number');
  });
});
