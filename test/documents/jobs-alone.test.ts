import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { gate } from '../harness/gate.ts';
import { startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { gateBefore, jobTenants, JobClient, LEAVE, sql, type GatedEngine } from './job-world.ts';

const TEXT = 'Write to ada@example.com.';
const HIDDEN = 'Write to «EMAIL_1».';

let engine: EngineProcess;
let gated: GatedEngine;
beforeAll(async () => {
  engine = await startDocumentEngine();
  gated = await gateBefore(engine.url);
  await engine.ready();
});
afterAll(async () => {
  await gated[Symbol.asyncDispose]();
  await engine.stop();
});

describe('a gateway alone', () => {
  test('does after a restart what it was told to before, with the embedded database', async () => {
    const { keys, resources } = jobTenants();
    const dataDir = mkdtempSync(join(tmpdir(), 'gatewarden-alone-'));
    const start = (): Promise<GatewayProcess> => startGateway({ resources, dataDir, documentsUrl: gated.url });
    gated.gate = gate();
    let gateway = await start();
    const client = new JobClient(() => gateway.url, keys.app);
    const killedOver = await client.enter(TEXT);
    await gated.gate.waiting();
    await gateway.kill();
    gated.gate = gate();
    gateway = await start();
    const stoppedOver = await client.enter(TEXT);
    await gated.gate.waiting();
    gated.gate.release();
    // What runs is brought to its end first.
    await gateway.stop();
    gateway = await start();
    for (const id of [killedOver, stoppedOver]) {
      const { result_url: url } = await client.until(id, 'succeeded');
      expect(await (await fetch(url ?? '')).text()).toBe(HIDDEN);
    }
    await expect
      .poll(async () => /^gw_open_holds (\d+)$/m.exec(await (await fetch(`${gateway.adminUrl}/metrics`)).text())?.[1])
      .toBe('0');
    await gateway.stop();
    rmSync(dataDir, { recursive: true });
  });

  describe('with its files in a folder', () => {
    const { keys, resources } = jobTenants();
    const folder = mkdtempSync(join(tmpdir(), 'gatewarden-files-'));
    let databaseUrl: string;
    let gateway: GatewayProcess;
    const client = new JobClient(() => gateway.url, keys.app);
    const dataDir = mkdtempSync(join(tmpdir(), 'gatewarden-alone-'));
    const env = { GW_JOBS_FILES: folder, GW_JOBS_MAX_STORED_MIB: '1', GW_PUBLIC_URL: 'https://gw.example/base/' };
    const start = (): Promise<GatewayProcess> =>
      startGateway({
        resources,
        databaseUrl,
        dataDir,
        documentsUrl: gated.url,
        env: { ...env, GW_DRAIN_SECONDS: '0' },
      });
    beforeAll(async () => {
      databaseUrl = await createDatabase(inject('databaseUrl'));
      gateway = await start();
    });
    afterAll(async () => {
      await gateway.stop();
      for (const one of [folder, dataDir]) rmSync(one, { recursive: true });
    });

    test('keeps a result there as long as it is wanted', async () => {
      gated.gate = gate();
      gated.gate.release();
      const id = await client.enter(TEXT);
      const { result_url: url } = await client.until(id, 'succeeded');
      expect(url).toMatch(/^https:\/\/gw\.example\/base\/v1\/documents\/results\//);
      const answer = await fetch(`${gateway.url}${new URL(url ?? '').pathname.replace('/base', '')}`);
      expect(await answer.text()).toBe(HIDDEN);
      await expect.poll(() => readdirSync(folder)).toEqual([`${id}.result`]);
      await client.cancel(id);
      await expect.poll(() => readdirSync(folder)).toEqual([]);
    });

    test('lets go of a job when its grace is over, at no loss', async () => {
      gated.gate = gate();
      const id = await client.enter(TEXT);
      await gated.gate.waiting();
      expect(await gateway.stop()).toBe(0);
      const [left] = await sql(databaseUrl, 'SELECT state, takes FROM document_jobs WHERE id = $1', [id]);
      expect(left).toMatchObject({ state: 'queued', takes: 0 });
      expect(await sql(databaseUrl, 'SELECT FROM audit_rows WHERE call_id = $1', [id])).toEqual([]);
      gated.gate = gate();
      gated.gate.release();
      gateway = await start();
      await client.until(id, 'succeeded');
      expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'served', cost_nano_eur: '20000000' });
      await client.cancel(id);
      await expect.poll(() => readdirSync(folder)).toEqual([]);
    });

    test('refuses what it cannot do, and seals that', async () => {
      for (const [options, status] of [
        [{ entities: ['starsign'] }, 400],
        [{ nothing: true }, 400],
      ] as const) {
        const answer = await client.submit(TEXT, 'a.txt', options);
        expect(answer.status).toBe(status);
        expect(await rowOf(databaseUrl, answer.headers.get('x-request-id'))).toMatchObject({ outcome: 'refused' });
      }
      const large = await client.submit('x'.repeat(1024 * 1024 + 1));
      expect(large.status).toBe(503);
      expect(large.headers.get('retry-after')).toBe('30');
      expect(readdirSync(folder)).toEqual([]);
    });

    test('fails with what is wrong with a document', async () => {
      const id = await client.enter('\u0000\u0001\u0002', 'a.pdf');
      const told = await client.until(id, 'failed');
      expect(told.error?.type).toBe('invalid_request_error');
      expect(told.error?.code).toMatch(/^document_/);
      expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
    });

    test('tries again while its engine is away, then fails with that', async () => {
      gated.gate = gate();
      const id = await client.enter(TEXT);
      await gated.gate.waiting();
      await engine.stop();
      gated.gate.release();
      // The waits between are hours in a test's life.
      const hurry = setInterval(
        () => void sql(databaseUrl, "UPDATE document_jobs SET due = now() WHERE state = 'queued'").catch(() => {}),
        200,
      );
      try {
        expect(await client.until(id, 'failed')).toMatchObject({
          error: { code: 'document_engine_unavailable', type: 'api_error' },
          result_url: null,
        });
      } finally {
        clearInterval(hurry);
      }
      const [{ takes } = { takes: 0 }] = await sql<{ takes: number }>(
        databaseUrl,
        'SELECT takes FROM document_jobs WHERE id = $1',
        [id],
      );
      expect(takes).toBe(5);
      expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'failed', cost_nano_eur: '0' });
      await expect.poll(() => readdirSync(folder)).toEqual([]);
    });

    test('does nothing for a key that was revoked meanwhile', async () => {
      engine = await startDocumentEngine();
      gated.gate = gate();
      const id = await client.enter(TEXT);
      await gated.gate.waiting();
      await sql(databaseUrl, "UPDATE document_jobs SET due = 'infinity' WHERE id = $1", [id]);
      await sql(databaseUrl, LEAVE, [id]);
      gateway.configure(
        resources.filter((one) => (one as { kind: string; metadata: { name: string } }).metadata.name !== 'app-key'),
      );
      await expect.poll(() => gateway.log.filter((line) => line.includes('config.loaded')).length).toBeGreaterThan(1);
      await sql(databaseUrl, 'UPDATE document_jobs SET due = now() WHERE id = $1', [id]);
      expect(await rowOf(databaseUrl, id)).toMatchObject({
        outcome: 'refused',
        code: 'invalid_api_key',
        cost_nano_eur: '0',
      });
      // The row comes first, the job's end by it.
      await expect
        .poll(() => sql(databaseUrl, 'SELECT state, error_code FROM document_jobs WHERE id = $1', [id]))
        .toEqual([{ state: 'failed', error_code: 'invalid_api_key' }]);
    });
  });
});
