import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDocumentEngine } from '#/adapters/inference/documents.ts';
import type { DocumentEngine, DocumentFile } from '#/ports/documents.ts';
import { encode } from '../../inference/formats/image/encode.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { picture, writtenPage } from '../harness/pictures.ts';

const { signal } = new AbortController();
const fileOf = (bytes: Uint8Array, mediaType = 'image/png', name = 'a.png'): DocumentFile => ({
  name,
  mediaType,
  bytes,
});
const kindOf = (error: unknown): unknown => (error as { kind?: unknown }).kind;

/** A picture of so many frames, each of which takes a while to recognize; by default, a job that lasts as long as it is let. */
async function longJob(frames = 60): Promise<DocumentFile> {
  const page = writtenPage(Array.from({ length: 12 }, (_, line) => `THE QUICK BROWN FOX ${line}`));
  const pages = Array.from({ length: frames }, () => ({ ...page, dpi: 100 }));
  return fileOf(await encode(pages, 'image/tiff'), 'image/tiff');
}

const SIDE = 4000;
const FRAMES = 4;

/** Within bounds of pixels, and all of its frames are written in one step, which takes seconds on any machine. */
async function slowPicture(): Promise<DocumentFile> {
  const raw = { width: SIDE, height: SIDE * FRAMES, channels: 3 as const, pageHeight: SIDE };
  // Like frames would be written as one.
  const greys = Array.from({ length: FRAMES }, (_, at) => Buffer.alloc(SIDE * SIDE * raw.channels, 0x20 * (at + 1)));
  const bytes = await sharp(Buffer.concat(greys), { raw }).webp({ quality: 20, effort: 0 }).toBuffer();
  return fileOf(bytes, 'image/webp', 'a.webp');
}

describe('an engine of one thread', () => {
  let process: EngineProcess;
  let engine: DocumentEngine & { close(): Promise<void> };
  let small: DocumentFile;
  beforeAll(async () => {
    process = await startDocumentEngine({ GW_INFERENCE_QUEUE_LENGTH: '1', GW_INFERENCE_MAX_MIB: '4' });
    engine = openDocumentEngine({ url: () => process.url });
    small = fileOf(
      await picture(writtenPage(['ADA LOVELACE']))
        .png()
        .toBuffer(),
    );
    await process.ready();
    await engine.ping();
  });
  afterAll(async () => {
    await engine.close();
    await process.stop();
  });

  test('does all four verbs', async () => {
    const read = await engine.read(small, { recognize: 'auto' }, signal);
    expect(read).toMatchObject({ kind: 'image', pages: 1, images: 1, recognizedPages: [0] });
    const [unit] = read.units;
    expect(unit?.text).toContain('LOVELACE');
    expect(await engine.render(small, { maxPages: 1 }, signal)).toMatchObject([{ page: 0, mediaType: 'image/png' }]);
    const [page] = await engine.recognize(small, { includeImages: false }, signal);
    expect(page?.markdown).toContain('LOVELACE');
    const replacement = { unit: unit?.id ?? '', start: 0, end: unit?.text.length ?? 0, tag: '«PERSON_1»' };
    const redacted = await engine.redact(
      small,
      { layout: read.layout, replacements: [replacement], originals: ['ADA LOVELACE'] },
      signal,
    );
    expect((await sharp(redacted.bytes).metadata()).format).toBe('png');
    await expect.poll(() => process.metric('gw_inference_jobs_total{verb="redact",outcome="done"}')).toBe(1);
  });

  test('tells of pages while it works', async () => {
    const pages = ['ONE', 'TWO', 'THREE'].map((word) => ({ ...writtenPage([word]), dpi: 100 }));
    const file = fileOf(await encode(pages, 'image/tiff'), 'image/tiff');
    const told: { done: number; of: number }[] = [];
    const tell = (done: number, of: number): void => void told.push({ done, of });
    const { layout } = await engine.read(file, { recognize: 'auto' }, signal, tell);
    const whole = told.splice(0);
    expect(whole.at(0)).toEqual({ done: 0, of: 3 });
    expect(whole.at(-1)).toEqual({ done: 3, of: 3 });
    expect(whole).toEqual(whole.toSorted((one, other) => one.done - other.done));
    await engine.redact(file, { layout, replacements: [], originals: [] }, signal, tell);
    expect([told.at(0), told.at(-1)]).toEqual([
      { done: 0, of: 3 },
      { done: 3, of: 3 },
    ]);
  });

  test.each([
    ['nothing', Buffer.alloc(0), 'unreadable'],
    ['garbage', Buffer.from('000102030405060708', 'hex'), 'unsupported'],
    ['half a picture', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 'unreadable'],
    ['more than it takes', Buffer.alloc(5 * 1024 * 1024, 0x20), 'too_large'],
  ])('%s ends in its fault', async (_name, bytes, kind) => {
    const failed = await engine.read(fileOf(bytes), { recognize: 'auto' }, signal).catch(kindOf);
    expect(failed).toBe(kind);
  });

  test('what is no request of ours is 400, and says nothing', async () => {
    const form = new FormData();
    form.append('options', '{"recognize":"sometimes"}');
    form.append('document', new Blob(['x']), 'a.txt');
    const bodies: readonly RequestInit[] = [
      { body: form },
      { body: '{}', headers: { 'content-type': 'application/json' } },
      { body: '--x\r\n', headers: { 'content-type': 'multipart/form-data; boundary=x' } },
      { body: 'x', headers: { 'content-type': 'multipart/form-data' } },
    ];
    for (const init of bodies) {
      const answer = await fetch(`${process.url}/v1/read`, { method: 'POST', ...init });
      expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([400, ['error']]);
    }
    expect((await fetch(`${process.url}/v1/anything`, { method: 'POST' })).status).toBe(404);
  });

  test('turns away what it has no place for, and forgets whoever hangs up', async () => {
    const long = await longJob();
    const [running, waiting] = [new AbortController(), new AbortController()];
    const jobs = [running, waiting].map((one) =>
      engine.read(long, { recognize: 'auto' }, one.signal).catch((error: unknown) => (error as Error).message),
    );
    await expect.poll(() => process.metric('gw_inference_jobs_running')).toBe(1);
    await expect.poll(() => process.metric('gw_inference_jobs_waiting')).toBe(1);

    const refused = await engine.read(small, { recognize: 'auto' }, signal).catch((error: unknown) => error);
    expect(refused).toMatchObject({ kind: 'busy', retryAfterMs: 2000 });

    waiting.abort(new Error('left'));
    running.abort(new Error('left'));
    expect(await Promise.all(jobs)).toEqual(['left', 'left']);
    await expect.poll(() => process.metric('gw_inference_jobs_running')).toBe(0);
    expect((await engine.read(small, { recognize: 'auto' }, signal)).pages).toBe(1);
  });

  test('says nothing of a document in its log', () => {
    expect(process.log.join('\n')).not.toMatch(/LOVELACE|a\.png/);
  });
});

describe('a job that does not end', () => {
  test('is ended with its thread, and the next one is served by another', async () => {
    const process = await startDocumentEngine({ GW_INFERENCE_JOB_SECONDS: '8' });
    const engine = openDocumentEngine({ url: () => process.url });
    await process.ready();
    await engine.ping();
    const killed = (): Promise<number> => process.metric('gw_inference_kills_total{reason="time"}');
    // On a busy machine a self-check may have outlived its time, too.
    const before = await killed();
    const failed = await engine.read(await longJob(), { recognize: 'auto' }, signal).catch(kindOf);
    expect(failed).toBe('too_large');
    expect(await killed()).toBe(before + 1);
    const next = await engine.render(
      fileOf(
        await picture(writtenPage(['OK']))
          .png()
          .toBuffer(),
      ),
      { maxPages: 1 },
      signal,
    );
    expect(next).toHaveLength(1);
    await engine.close();
    expect(await process.stop()).toBe(0);
  });

  test('in one step is ended before the whole time is over', async () => {
    const process = await startDocumentEngine({ GW_INFERENCE_STEP_SECONDS: '1' });
    const engine = openDocumentEngine({ url: () => process.url });
    const frames = Array.from({ length: FRAMES }, () => ({ width: SIDE, height: SIDE, units: [] }));
    const told = { layout: JSON.stringify({ frames }), replacements: [], originals: [] };
    expect(await engine.redact(await slowPicture(), told, signal).catch(kindOf)).toBe('too_large');
    await engine.close();
    await process.stop();
  });
});

test('a thread that outgrows its heap is replaced, and the process lives on', async () => {
  const process = await startDocumentEngine({ GW_INFERENCE_WORKER_HEAP_MIB: '64', GW_INFERENCE_MAX_MIB: '256' });
  const engine = openDocumentEngine({ url: () => process.url });
  const words = JSON.stringify({ start: 0, end: 1, box: { x0: 0, y0: 0, x1: 1, y1: 1 }, confidence: 1 });
  const units = Array.from({ length: 900_000 }, () => words).join(',');
  const layout = `{"frames":[{"width":1,"height":1,"units":[{"id":"a","words":[${units}]}]}]}`;
  const file = fileOf(
    await sharp({ create: { width: 1, height: 1, channels: 3, background: 'red' } })
      .png()
      .toBuffer(),
  );
  const failed = await engine.redact(file, { layout, replacements: [], originals: [] }, signal).catch(kindOf);
  expect(failed).toBe('too_large');
  await expect.poll(() => process.metric('gw_inference_kills_total{reason="memory"}')).toBe(1);
  expect(await engine.render(file, { maxPages: 1 }, signal)).toHaveLength(1);
  await engine.close();
  await process.stop();
});

test('told to end, it finishes what it has; left by its parent, it ends at once', async () => {
  const process = await startDocumentEngine();
  const engine = openDocumentEngine({ url: () => process.url });
  const file = await longJob(3);
  // Its own check of itself is a job, too: what runs after that is this one.
  await process.ready();
  const last = engine.read(file, { recognize: 'auto' }, signal);
  await expect.poll(() => process.metric('gw_inference_jobs_running')).toBe(1);
  const stopped = process.stop();
  expect((await last).pages).toBe(3);
  expect(await stopped).toBe(0);
  const failed = await engine.read(file, { recognize: 'auto' }, signal).catch(kindOf);
  expect(failed).toBe('unavailable');
  await engine.close();

  const child = await startDocumentEngine({ GW_INFERENCE_CHILD: 'true' });
  child.hangUp();
  expect(await child.exited).toBe(0);
});
