import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openRedisCounters } from '#/adapters/redis/limit-counters.ts';
import type { OpenHold } from '#/ports/limit-counters.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { gate } from '../harness/gate.ts';
import { startGateway, type GatewayProcess } from '../harness/gateway.ts';
import { ledgerRows, rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startRedis, type RedisServer } from '../harness/redis.ts';
import { ocrOf, pagesOf } from './world.ts';
import { contentKeyFile, gateBefore, jobTenants, JobClient, LEAVE, sql, type GatedEngine } from './job-world.ts';

const TEXT = 'Dear Ada, write to ada@example.com or to bob@example.com, not to ada@example.com again.';
const HIDDEN = 'Dear Ada, write to «EMAIL_1» or to «EMAIL_2», not to «EMAIL_1» again.';
const PAGE_NANO_EUR = '20000000';

let engine: EngineProcess;
let gated: GatedEngine;
let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
  engine = await startDocumentEngine();
  gated = await gateBefore(engine.url);
  await engine.ready();
});
afterAll(async () => {
  await gated[Symbol.asyncDispose]();
  await engine.stop();
  await redis.stop();
});

describe('two gateways', () => {
  const { keys, resources } = jobTenants();
  const secrets = contentKeyFile();
  let databaseUrl: string;
  let first: GatewayProcess;
  let second: GatewayProcess;
  let app: JobClient;
  const clientOf = (gateway: () => GatewayProcess, key: keyof typeof keys = 'app'): JobClient =>
    new JobClient(() => gateway().url, keys[key]);
  const start = (more: Readonly<Record<string, string>> = {}): Promise<GatewayProcess> =>
    startGateway({
      resources,
      databaseUrl,
      redisUrl: redis.url,
      documentsUrl: gated.url,
      env: { GW_CONTENT_KEY_FILE: secrets, GW_JOBS_MAX_WAITING: '3', ...more },
    });
  /** What can be read in a picture. */
  const textOf = async (bytes: Uint8Array): Promise<string> => {
    const headers = { authorization: `Bearer ${keys.app}`, 'content-type': 'application/json' };
    const body = JSON.stringify(ocrOf(bytes, {}, 'image/tiff'));
    const answer = await fetch(`${first.url}/v1/ocr`, { method: 'POST', headers, body });
    return ((await answer.json()) as { pages: { markdown: string }[] }).pages
      .map(({ markdown }) => markdown)
      .join('\n');
  };
  const rowsFor = async (id: string): Promise<number> =>
    (await sql(databaseUrl, 'SELECT FROM audit_rows WHERE call_id = $1', [id])).length +
    (await sql(databaseUrl, 'SELECT FROM audit_superseded WHERE call_id = $1', [id])).length;
  const storedParts = async (id: string): Promise<string[]> =>
    (await sql<{ part: string }>(databaseUrl, 'SELECT DISTINCT part FROM document_job_files WHERE job = $1', [id])).map(
      ({ part }) => part,
    );

  beforeAll(async () => {
    databaseUrl = await createDatabase(inject('databaseUrl'));
    [first, second] = await Promise.all([start(), start()]);
    app = clientOf(() => first);
  });
  afterAll(async () => {
    await Promise.all([first.kill(), second.kill()]);
  });

  test('do a job once, and give out its result at an address that needs no key', async () => {
    gated.gate.release();
    const id = await app.enter(TEXT, 'for bob@example.com here.txt', { include_mapping: true });
    const told = await app.until(id, 'succeeded');
    expect(told).toMatchObject({
      error: null,
      progress: { phase: 'done', pages: 1, pages_done: 1 },
      summary: { pages: 1, images: 0, categories: ['EMAIL'], downgraded: false },
      mapping: [
        { token: '«EMAIL_1»', original: 'ada@example.com' },
        { token: '«EMAIL_2»', original: 'bob@example.com' },
      ],
    });
    expect(told.content_type).toMatch(/^text\/plain/);
    expect(told.filename).toBe('for «EMAIL_2» here.txt');
    const elsewhere = new URL(told.result_url ?? '');
    expect(elsewhere.origin).toBe(first.url);
    for (const origin of [first.url, second.url]) {
      const answer = await fetch(`${origin}${elsewhere.pathname}`);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(HIDDEN);
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(answer.headers.get('content-disposition')).toBe(
        `attachment; filename="for _EMAIL_2_ here.txt"; filename*=UTF-8''for%20%C2%ABEMAIL_2%C2%BB%20here.txt`,
      );
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    }
    expect(await rowOf(databaseUrl, id)).toMatchObject({
      surface: 'documents',
      outcome: 'served',
      cost_nano_eur: PAGE_NANO_EUR,
      units: { pages: 1 },
      dlp: { findings: { EMAIL: 4 } },
    });
    expect(await rowsFor(id)).toBe(1);
    await expect.poll(() => storedParts(id)).toEqual(['result']);
    const [kept] = await sql<{ all: string }>(
      databaseUrl,
      "SELECT (SELECT string_agg(encode(sealed, 'escape'), '') FROM document_job_files) || (SELECT jobs::text FROM document_jobs jobs WHERE id = $1) AS all",
      [id],
    );
    expect(kept?.all).not.toMatch(/ada@example|EMAIL_1|6164614065/);
  });

  test('do pictures, by the frame, and count what they did', async () => {
    gated.gate.release();
    const told = async (): Promise<Readonly<Record<string, number>>> => {
      const sums: Record<string, number> = {};
      for (const gateway of [first, second]) {
        const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
        for (const [, name = '', value] of text.matchAll(/^(gw_document_job\S*) (\S+)$/gm))
          sums[name] = (sums[name] ?? 0) + Number(value);
      }
      return sums;
    };
    const before = await told();
    const grown = async (name: string): Promise<number> => ((await told())[name] ?? 0) - (before[name] ?? 0);
    const picture = await pagesOf(['PAID BY ADA BELL', 'FOR THE HOUSE']);
    const id = await app.enter(picture, 'scan.tiff', { remove: ['Ada Bell'], include_mapping: true });
    const done = await app.until(id, 'succeeded');
    const progress = { phase: 'done', pages: 2, pages_done: 2 };
    expect(done).toMatchObject({ progress, summary: { pages: 2, categories: ['TERM'] } });
    expect(done.content_type).toBe('image/tiff');
    const result = Buffer.from(await (await fetch(done.result_url ?? '')).arrayBuffer());
    const again = await textOf(result);
    expect(again).toContain('FOR THE HOUSE');
    expect(again).not.toMatch(/BELL/);
    expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'served', units: { images: 2 } });
    // Another one cannot be read at all.
    const broken = await app.enter(picture.subarray(0, 200), 'scan.tiff');
    expect((await app.until(broken, 'failed')).error?.code).toBe('document_unreadable');
    await expect.poll(() => grown('gw_document_jobs_total{state="succeeded",code=""}')).toBe(1);
    await expect.poll(() => grown('gw_document_jobs_total{state="failed",code="document_unreadable"}')).toBe(1);
    expect(await grown('gw_document_job_pages_total')).toBe(2);
    expect(await grown('gw_document_job_seconds_total{phase="working"}')).toBeGreaterThan(0);
    await expect.poll(told).toMatchObject({ gw_document_jobs_running: 0, gw_document_jobs_waiting: 0 });
  });

  test('tell how far a job is while it is worked on', async () => {
    gated.gate = gate();
    const id = await app.enter(await pagesOf(['PAID BY ADA BELL', 'FOR THE HOUSE']), 'scan.tiff');
    const progress = async (): Promise<object> => (await clientOf(() => second).told(id)).progress;
    await gated.gate.waiting();
    await expect.poll(progress).toEqual({ phase: 'reading', pages: null, pages_done: 0 });
    for (const done of [0, 3, 7]) {
      gated.tellPages(done, 40);
      await expect.poll(progress).toEqual({ phase: 'reading', pages: 40, pages_done: done });
    }
    // What was recognized is read once more in the result.
    await gated.gate.step();
    await expect.poll(progress).toEqual({ phase: 'checking', pages: 2, pages_done: 0 });
    gated.tellPages(1, 2);
    await expect.poll(progress).toEqual({ phase: 'checking', pages: 2, pages_done: 1 });
    gated.gate.release();
    expect(await app.until(id, 'succeeded')).toMatchObject({ progress: { phase: 'done', pages: 2, pages_done: 2 } });
  });

  test('tell of a job and give it up to keys of its workload alone', async () => {
    const id = await app.enter(TEXT);
    await app.until(id, 'succeeded');
    for (const key of ['other', 'foreign'] as const) {
      const stranger = clientOf(() => second, key);
      for (const answer of [await stranger.find(id), await stranger.cancel(id)]) {
        expect(answer.status).toBe(404);
        expect(await answer.text()).toContain('"code":"not_found"');
      }
    }
    expect((await app.find('no-uuid')).status).toBe(404);
    expect((await app.told(id)).status).toBe('succeeded');
  });

  test('take no address that was changed, or is over', async () => {
    const id = await app.enter(TEXT);
    const { result_url: url } = await app.until(id, 'succeeded');
    const { pathname } = new URL(url ?? '');
    const [, , , , , until = '', signature = ''] = pathname.split('/');
    const other = await app.enter(TEXT);
    await app.until(other, 'succeeded');
    const changed = [
      [other, until, signature],
      [id, String(Number(until) + 1), signature],
      [id, until, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`],
      [id, until, signature.slice(0, -2)],
      [id, until, `${signature}=`],
      [id, `0${until}`, signature],
      [id, '9'.repeat(30), signature],
    ];
    for (const parts of changed) {
      const answer = await fetch(`${first.url}/v1/documents/results/${parts.join('/')}`);
      expect([parts, answer.status]).toEqual([parts, 404]);
    }
    expect((await fetch(`${first.url}${pathname}`)).status).toBe(200);
    const shortLived = await start({ GW_JOBS_URL_SECONDS: '1' });
    try {
      const { result_url: short } = await clientOf(() => shortLived).told(id);
      await expect.poll(async () => (await fetch(short ?? '')).status, { timeout: 10_000 }).toBe(404);
    } finally {
      await shortLived.stop();
    }
    expect((await fetch(`${first.url}${pathname}`)).status).toBe(200);
  });

  test('let a result go when its time is over, or when it is given up', async () => {
    const [late, unwanted] = [await app.enter(TEXT), await app.enter(TEXT)];
    const { result_url: lateUrl } = await app.until(late, 'succeeded');
    const { result_url: unwantedUrl } = await app.until(unwanted, 'succeeded');
    await sql(databaseUrl, "UPDATE document_jobs SET expires = now() - interval '1 second' WHERE id = $1", [late]);
    expect(await app.told(late)).toMatchObject({ status: 'expired', result_url: null });
    expect((await fetch(lateUrl ?? '')).status).toBe(404);
    expect(await (await app.cancel(unwanted)).json()).toMatchObject({ status: 'expired', result_url: null });
    expect((await fetch(unwantedUrl ?? '')).status).toBe(404);
    // The next tidying takes both.
    for (const id of [late, unwanted]) await expect.poll(() => storedParts(id)).toEqual([]);
  });

  test('end a job that waits or runs when it is cancelled, for nothing', async () => {
    gated.gate = gate();
    const before = gated.left();
    const running = await app.enter(TEXT);
    await gated.gate.waiting();
    expect(await app.told(running)).toMatchObject({ status: 'running' });
    expect((await clientOf(() => second).cancel(running)).status).toBe(200);
    await app.until(running, 'cancelled');
    await expect.poll(gated.left).toBe(before + 1);
    const waiting = await app.enter(TEXT);
    await sql(
      databaseUrl,
      "UPDATE document_jobs SET state = 'queued', due = 'infinity', leased_until = NULL, lease = NULL WHERE id = $1",
      [waiting],
    );
    expect(await (await app.cancel(waiting)).json()).toMatchObject({ status: 'cancelled' });
    gated.gate.release();
    for (const id of [running, waiting]) {
      expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'hung_up', status: 499, cost_nano_eur: '0' });
      await expect.poll(() => storedParts(id)).toEqual([]);
      expect(await (await app.cancel(id)).json()).toMatchObject({ status: 'cancelled' });
    }
  });

  test('take no more jobs of an organization than may wait', async () => {
    gated.gate = gate();
    const ids = [await app.enter(TEXT), await app.enter(TEXT), await app.enter(TEXT)];
    const refused = await app.submit(TEXT);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('30');
    const row = await rowOf(databaseUrl, refused.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'refused', code: 'rate_limit_exceeded', cost_nano_eur: '0' });
    gated.gate.release();
    for (const id of ids) await app.until(id, 'succeeded');
  });

  test('do nothing over again that the ledger knows, whoever died before he could say so', async () => {
    gated.gate = gate();
    gated.gate.release();
    const id = await app.enter(TEXT);
    await app.until(id, 'succeeded');
    gated.gate = gate();
    await sql(
      databaseUrl,
      "UPDATE document_jobs SET state = 'running', closed = false, expires = NULL, leased_until = 'epoch' WHERE id = $1",
      [id],
    );
    const { result_url: url } = await app.until(id, 'succeeded');
    expect(await (await fetch(url ?? '')).text()).toBe(HIDDEN);
    expect(await rowsFor(id)).toBe(1);
  });

  test('seal a job once that one lost to another without noticing', async () => {
    gated.gate = gate();
    const before = gated.left();
    const id = await app.enter(TEXT);
    await gated.gate.waiting();
    await sql(databaseUrl, LEAVE, [id]);
    // The first one is told at its next sign of life, and ends its work.
    await expect.poll(gated.left).toBe(before + 1);
    await gated.gate.waiting();
    gated.gate.release();
    await app.until(id, 'succeeded');
    expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'served', cost_nano_eur: PAGE_NANO_EUR });
    expect(await rowsFor(id)).toBe(1);
  });

  test('do what another was killed over, and bill it once', async () => {
    gated.gate = gate();
    const id = await app.enter(TEXT);
    await gated.gate.waiting();
    // Whichever has it: both are ended, and one comes back.
    await Promise.all([first.kill(), second.kill()]);
    await sql(databaseUrl, 'UPDATE document_jobs SET leased_until = now() WHERE id = $1', [id]);
    const counters = openRedisCounters({ url: redis.url });
    await counters.ping();
    const holdOf = async (): Promise<OpenHold | undefined> =>
      (await counters.view('default/acme')).holds.find(({ callId }) => callId === id);
    const dead = (await holdOf())?.owner;
    expect(dead).toBeTypeOf('string');
    gated.gate = gate();
    first = await start();
    await gated.gate.waiting();
    // Somebody sweeps up after the dead, and leaves the hold to the job.
    await expect.poll(async () => (await holdOf())?.owner ?? dead, { timeout: 60_000 }).not.toBe(dead);
    gated.gate.release();
    await app.until(id, 'succeeded');
    expect(await rowOf(databaseUrl, id)).toMatchObject({ outcome: 'served', cost_nano_eur: PAGE_NANO_EUR });
    expect(await rowsFor(id)).toBe(1);
    await expect.poll(holdOf).toBeUndefined();
    await counters.close();
    second = await start();
    expect((await ledgerRows(databaseUrl)).filter(({ outcome }) => outcome === 'abandoned')).toEqual([]);
  });

  test('do what one is killed over while the other lives', async () => {
    gated.gate = gate();
    const id = await app.enter(TEXT);
    await gated.gate.waiting();
    await second.stop();
    // Of two, the one that stays was not the one that worked, or works again.
    await first.kill();
    second = await start();
    await sql(databaseUrl, 'UPDATE document_jobs SET leased_until = now() WHERE id = $1 AND state = $2', [
      id,
      'running',
    ]);
    gated.gate.release();
    const late = clientOf(() => second);
    await late.until(id, 'succeeded');
    expect(await rowsFor(id)).toBe(1);
    first = await start();
  });
});
