import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDiskJobFiles } from '#/adapters/disk/job-files.ts';
import { openPostgresJobs, type PostgresJobs } from '#/adapters/postgres/document-jobs.ts';
import { openS3JobFiles } from '#/adapters/s3/job-files.ts';
import { S3Client } from '#/adapters/s3/signed-request.ts';
import type { JobFiles, JobProgress, NewJob, TakenJob } from '#/ports/document-jobs.ts';
import { hasS3, startS3 } from '../harness/s3.ts';
import { skipUnless } from '../harness/skip.ts';
import { LEDGER_SUBJECTS, type LedgerHome } from './ledger-subjects.ts';

const BOUNDS = { waiting: 3, storedBytes: 1000 };
const LONG_MS = 600_000;
const WAITING: JobProgress = { phase: 'waiting', pages: undefined, pagesDone: 0 };
const reading = (pagesDone: number, pages: number): JobProgress => ({ phase: 'reading', pages, pagesDone });

async function filesKeepTheirContract(files: JobFiles): Promise<void> {
  const job = randomUUID();
  const [input, result] = [
    { job, part: 'input' },
    { job, part: 'result' },
  ] as const;
  expect(await files.get(input)).toBeUndefined();
  await files.remove(input);
  const large = randomBytes(9_000_000);
  await files.put(input, large);
  await files.put(result, Buffer.from([0, 255, 10]));
  expect((await files.get(input))?.equals(large)).toBe(true);
  expect(await files.get(result)).toEqual(Buffer.from([0, 255, 10]));
  await files.put(input, Buffer.from('short'));
  expect(await files.get(input)).toEqual(Buffer.from('short'));
  await files.remove(input);
  expect(await files.get(input)).toBeUndefined();
  expect(await files.get(result)).toHaveLength(3);
  await files.remove(result);
}

describe.each(LEDGER_SUBJECTS)('jobs in $name', (subject) => {
  let home: LedgerHome;
  let jobs: PostgresJobs;
  beforeAll(async () => {
    home = await subject.home();
    jobs = await openPostgresJobs({ connectionString: home.url });
  });
  afterAll(async () => {
    await jobs.close();
    await home.close();
  });

  const newJob = (more: Partial<NewJob> = {}): NewJob => ({
    id: randomUUID(),
    organization: `team/${randomUUID()}`,
    workload: 'team/app',
    key: 'team/key',
    createdAt: Date.now(),
    order: Buffer.from([1, 0, 255]),
    inputBytes: 10,
    ...more,
  });
  const queued = async (more: Partial<NewJob> = {}): Promise<NewJob> => {
    const job = newJob(more);
    expect(await jobs.book.enter(job, BOUNDS)).toBe('entered');
    await jobs.book.queue(job.id);
    return job;
  };
  const take = (leaseMs = LONG_MS): Promise<TakenJob | undefined> => jobs.queue.take(randomUUID(), leaseMs, 2);
  /** Ends whatever is there, so that the next test begins with nothing. */
  const empty = async (): Promise<void> => {
    for (let job = await take(); job; job = await take()) await jobs.queue.end(job, { state: 'cancelled' });
    await jobs.queue.cleared(await jobs.queue.leftovers());
  };

  test('keeps files', () => filesKeepTheirContract(jobs.files));

  test('gives a job to one of many, and not before its document is there', async () => {
    const job = newJob();
    await jobs.book.enter(job, BOUNDS);
    expect(await take()).toBeUndefined();
    expect(await jobs.book.find(job.id)).toBeUndefined();
    await jobs.book.queue(job.id);
    const taken = await Promise.all(Array.from({ length: 6 }, () => take()));
    const mine = taken.filter((one) => one !== undefined);
    expect(mine).toMatchObject([
      { id: job.id, order: job.order, createdAt: job.createdAt, takes: 1, cancelled: false },
    ]);
    await empty();
    await jobs.queue.end(mine[0]!, { state: 'cancelled' });
    await empty();
  });

  test('counts a job that was left as taken up so often at least: it may be what ended its worker', async () => {
    const job = await queued();
    const takeLast = (leaseMs: number): Promise<TakenJob | undefined> => jobs.queue.take(randomUUID(), leaseMs, 5);
    expect(await takeLast(0)).toMatchObject({ id: job.id, takes: 1 });
    await expect.poll(() => takeLast(0)).toMatchObject({ id: job.id, takes: 5 });
    const last = await takeLast(LONG_MS);
    expect(last).toMatchObject({ id: job.id, takes: 6 });
    expect(await jobs.queue.end(last!, { state: 'cancelled' })).toBe(true);
  });

  test('gives a job that was left to another, and its first worker has no say any more', async () => {
    const job = await queued();
    const left = (await take(0))!;
    await expect.poll(() => take()).toMatchObject({ id: job.id, takes: 2 });
    expect(await jobs.queue.keep(left, LONG_MS, { progress: reading(9, 9) })).toBe('lost');
    expect(await jobs.queue.end(left, { state: 'failed', error: { code: 'internal_error', message: '' } })).toBe(false);
    expect(await jobs.book.find(job.id)).toMatchObject({ state: 'running', progress: WAITING });
    await jobs.book.cancel(job.id);
  });

  test('tells one that runs to end, and ends one that waits', async () => {
    const running = await queued();
    const taken = (await take())!;
    expect(taken.id).toBe(running.id);
    expect(await jobs.queue.keep(taken, LONG_MS, { progress: reading(1, 3) })).toBe('kept');
    const cancelled = await jobs.book.cancel(running.id);
    expect(cancelled).toMatchObject({ state: 'running', cancelling: true, progress: reading(1, 3) });
    expect(await jobs.queue.keep(taken, LONG_MS, {})).toBe('cancelled');
    expect(await jobs.queue.end(taken, { state: 'cancelled' })).toBe(true);
    const waiting = await queued();
    expect(await jobs.book.cancel(waiting.id)).toMatchObject({ state: 'cancelled', cancelling: false });
    const toSeal = (await take())!;
    expect(toSeal).toMatchObject({ id: waiting.id, cancelled: true });
    expect(await jobs.queue.end(toSeal, { state: 'queued', inMs: 0, counted: false })).toBe(true);
    expect(await jobs.book.find(waiting.id)).toMatchObject({ state: 'cancelled' });
    await empty();
  });

  test('tells how far one is, from the beginning again for whoever takes it up next', async () => {
    const { id } = await queued();
    const progress = async (): Promise<JobProgress | undefined> => (await jobs.book.find(id))?.progress;
    expect(await progress()).toEqual(WAITING);
    const first = (await take())!;
    await jobs.queue.keep(first, LONG_MS, { progress: { phase: 'reading', pages: undefined, pagesDone: 0 } });
    expect(await progress()).toEqual({ phase: 'reading', pages: undefined, pagesDone: 0 });
    await jobs.queue.keep(first, LONG_MS, { progress: reading(4, 5) });
    await jobs.queue.keep(first, LONG_MS, {});
    expect(await progress()).toEqual(reading(4, 5));
    await jobs.queue.end(first, { state: 'queued', inMs: 0, counted: true });
    expect(await progress()).toEqual({ phase: 'waiting', pages: 5, pagesDone: 0 });
    // News that was under way is too late.
    expect(await jobs.queue.keep(first, LONG_MS, { progress: reading(5, 5) })).toBe('lost');
    const second = (await take())!;
    await jobs.queue.keep(second, 0, { progress: { phase: 'rewriting', pages: 5, pagesDone: 1 } });
    expect(await progress()).toMatchObject({ phase: 'rewriting', pagesDone: 1 });
    await expect.poll(() => take()).toMatchObject({ id, takes: 3 });
    expect(await progress()).toEqual({ phase: 'waiting', pages: 5, pagesDone: 0 });
    await jobs.book.cancel(id);
  });

  test('counts the times that tell of a job', async () => {
    await queued();
    await jobs.queue.end((await take())!, { state: 'queued', inMs: 0, counted: false });
    const again = (await take())!;
    expect(again.takes).toBe(1);
    await jobs.queue.end(again, { state: 'queued', inMs: LONG_MS, counted: true });
    expect(await take()).toBeUndefined();
  });

  test('lets an organization that has none running go first', async () => {
    const [busy, calm] = [`team/${randomUUID()}`, `team/${randomUUID()}`];
    await queued({ organization: busy, createdAt: 1 });
    expect(await take()).toMatchObject({ organization: busy });
    await queued({ organization: busy, createdAt: 2 });
    await queued({ organization: calm, createdAt: 3 });
    expect(await take()).toMatchObject({ organization: calm });
    await empty();
  });

  test('keeps to its bounds, however many come at once', async () => {
    const organization = `team/${randomUUID()}`;
    const verdicts = await Promise.all(
      Array.from({ length: 8 }, () => jobs.book.enter(newJob({ organization }), { ...BOUNDS, storedBytes: 1e9 })),
    );
    expect(verdicts.filter((verdict) => verdict === 'entered')).toHaveLength(3);
    expect(verdicts.filter((verdict) => verdict === 'too_many')).toHaveLength(5);
    expect(await jobs.book.enter(newJob({ inputBytes: 1001 }), BOUNDS)).toBe('no_room');
  });

  test('gives back what a job takes once it is over', async () => {
    const job = await queued();
    const taken = (await take())!;
    const outcome = Buffer.from([0, 1]);
    await jobs.queue.keep(taken, LONG_MS, { progress: reading(1, 2), result: { outcome, bytes: 700 } });
    await jobs.queue.end(taken, { state: 'succeeded', keptMs: LONG_MS });
    const done = await jobs.book.find(job.id);
    expect(done).toMatchObject({ state: 'succeeded', outcome, progress: { phase: 'done', pages: 2, pagesDone: 2 } });
    const mine = async (): Promise<unknown> => (await jobs.queue.leftovers()).filter((file) => file.job === job.id);
    expect(await mine()).toEqual([{ job: job.id, part: 'input' }]);
    await jobs.queue.cleared([{ job: job.id, part: 'input' }]);
    expect(await mine()).toEqual([]);
    expect(await jobs.book.cancel(job.id)).toMatchObject({ state: 'expired' });
    expect(await mine()).toEqual([{ job: job.id, part: 'result' }]);
    await jobs.queue.cleared([{ job: job.id, part: 'result' }]);
    expect(await jobs.book.find(job.id)).toMatchObject({ state: 'expired', outcome: undefined });
  });
});

test('files in a folder leave nothing behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-jobs-'));
  try {
    await filesKeepTheirContract(await openDiskJobFiles(folder));
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('files in a bucket', skipUnless(hasS3, 'no stand-in for S3: tools/setup.sh s3'), async () => {
  const server = await startS3();
  const credentials = () => Promise.resolve({ accessKeyId: 'key', secretAccessKey: 'secret' });
  const address = { bucket: 'jobs', endpoint: server.url, region: 'us-east-1', credentials };
  const client = new S3Client(address);
  const files = openS3JobFiles({ ...address, prefix: 'a/b' });
  try {
    expect((await client.send({ method: 'PUT', key: '' })).status).toBe(200);
    await filesKeepTheirContract(files);
  } finally {
    await files.close();
    await client.close();
    server.stop();
  }
});
