import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { failureOf, formOf, ocrOf, pagesOf, startDocumentWorld, written, type DocumentWorld } from './world.ts';

/** A document that is worked on as long as it is let. */
const longDocument = (): Promise<Uint8Array> =>
  pagesOf(Array.from({ length: 60 }, (_, page) => `THE QUICK BROWN FOX ${page}`));

let letter: Buffer;
beforeAll(async () => {
  letter = await written('ADA LOVELACE');
});

describe('an engine', () => {
  let engine: EngineProcess;
  let world: DocumentWorld;
  let long: Uint8Array;
  const running = (): Promise<number> => engine.metric('gw_inference_jobs_running');

  beforeAll(async () => {
    engine = await startDocumentEngine({ GW_INFERENCE_QUEUE_LENGTH: '0' });
    world = await startDocumentWorld({ documentsUrl: engine.url });
    long = await longDocument();
    await engine.ready();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('that is busy turns others away with a time, and a client that leaves ends its job for nothing', async () => {
    const leaving = new AbortController();
    const gone = world.anonymize(formOf(long, 'a.tiff'), { signal: leaving.signal }).catch(() => 'left');
    await expect.poll(running).toBe(1);
    const busy = await Promise.all([world.ocr(ocrOf(letter)), world.anonymize(formOf(letter, 'a.png'))]);
    for (const answer of busy) {
      expect([answer.headers.get('retry-after'), answer.headers.get('x-should-retry')]).toEqual(['2', null]);
      expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'upstream_overloaded' });
      expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '0', outcome: 'failed' });
    }
    leaving.abort();
    expect(await gone).toBe('left');
    await expect.poll(running).toBe(0);
    const rows = await ledgerRows(world.databaseUrl, 3);
    const left = rows.find(({ outcome }) => outcome === 'hung_up');
    expect(left).toMatchObject({ surface: 'documents', status: 499, cost_nano_eur: '0', usage: null });
    await expect.poll(() => world.metric('gw_open_holds')).toBe(0);
    await expect.poll(() => world.metric('gw_document_faults_total{verb="recognize",fault="busy"}')).toBe(1);
  });

  const headers = { 'x-gw-upstream-timeout': '1' };
  const inASecond = (bytes: Uint8Array, name: string): (() => Promise<Response>)[] => [
    () => world.anonymize(formOf(bytes, name), { headers }),
    () => world.ocr(ocrOf(bytes, {}, name.endsWith('.tiff') ? 'image/tiff' : 'image/png'), { headers }),
  ];

  test('that says nothing for longer than the caller waits is given up, for nothing', async () => {
    for (const ask of inASecond(letter, 'a.png')) {
      process.kill(engine.pid, 'SIGSTOP');
      const answer = await ask().finally(() => process.kill(engine.pid, 'SIGCONT'));
      expect(await failureOf(answer)).toMatchObject({ status: 504, code: 'upstream_timeout' });
      expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '0' });
      await expect.poll(running).toBe(0);
    }
  });

  test('that would take longer than the caller waits says so early, for nothing', async () => {
    // A second is over, or is seen to be too little: which comes first is for the machine to say.
    for (const ask of inASecond(long, 'a.tiff')) {
      const answer = await ask();
      expect(['upstream_timeout', 'document_too_large_to_scan']).toContain((await failureOf(answer)).code);
      expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '0' });
      await expect.poll(running).toBe(0);
    }
  });

  test('that dies over a document takes nothing with it but the document', async () => {
    const reading = world.anonymize(formOf(long, 'a.tiff'));
    await expect.poll(running).toBe(1);
    process.kill(engine.pid, 'SIGKILL');
    const answer = await reading;
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'document_engine_unavailable' });
    expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '0', outcome: 'failed', usage: null });

    const after = await world.ocr(ocrOf(letter));
    expect(await failureOf(after)).toMatchObject({ status: 503, code: 'document_engine_unavailable' });
    expect(await world.row(after)).toMatchObject({ cost_nano_eur: '0' });
    expect(await (await world.get('/v1/models')).text()).not.toContain('gw/ocr');
    expect((await fetch(`${world.gateway.adminUrl}/readyz`)).status).toBe(200);
    await expect.poll(() => world.metric('gw_open_holds')).toBe(0);
  });
});

test('a gateway that is told of no engine starts one, and another when that dies', async () => {
  await using world = await startDocumentWorld({ env: { GW_INFERENCE: 'on', GW_INFERENCE_WORKERS: '1' } });
  const listed = async (): Promise<boolean> => (await (await world.get('/v1/models')).text()).includes('gw/ocr');
  await expect.poll(listed, { timeout: 60_000 }).toBe(true);
  const child = (await childrenOf(world.gateway.pid))[0];
  expect(child).toBeDefined();
  process.kill(child ?? 0, 'SIGKILL');
  await expect.poll(() => world.metric('gw_document_engine_deaths_total')).toBe(1);
  await expect.poll(listed, { timeout: 60_000 }).toBe(true);
  expect((await world.ocr(ocrOf(letter))).status).toBe(200);
  const [next] = await childrenOf(world.gateway.pid);
  expect(next).not.toBe(child);
  await world.gateway.stop();
  expect(() => process.kill(next ?? 0, 0)).toThrow('ESRCH');
});

test('a gateway without an engine has neither door', async () => {
  await using world = await startDocumentWorld({});
  for (const answer of [await world.ocr(ocrOf(letter)), await world.anonymize(formOf(letter, 'a.png'))]) {
    expect(await failureOf(answer)).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await world.row(answer)).toMatchObject({ outcome: 'refused', held_nano_eur: '0' });
  }
});

/** Processes that a process has started. */
async function childrenOf(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.trim().split(/\s+/).map(Number);
}
