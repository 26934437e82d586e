import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createDetection } from './detect.ts';
import {
  createDetectionPool,
  type DetectionPool,
  type DetectionPoolOptions,
  DetectionUnavailable,
} from './detect-worker.ts';

const detection = createDetection();
const large = (find: string): string => `${'word '.repeat(20_000)}${find} `;
const pools: DetectionPool[] = [];
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'detect-'));
});

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  rmSync(folder, { recursive: true });
});

function open(options: DetectionPoolOptions = {}): DetectionPool {
  const pool = createDetectionPool(options);
  pools.push(pool);
  return pool;
}

/** A module for threads that does as each job's last text says: `die`, `die once <file>`, `throw`, `hold`; else answers. */
function unreliable(): URL {
  const file = join(folder, 'unreliable.mjs');
  writeFileSync(
    file,
    `import { existsSync, writeFileSync } from 'node:fs';
     import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ id, texts }) => {
       const order = texts.at(-1).trim();
       if (order === 'die') process.exit(1);
       if (order === 'throw') throw new Error('thrown on purpose');
       if (order === 'hold') return;
       const [, mark] = /^die once (.*)$/.exec(order) ?? [];
       if (mark !== undefined && !existsSync(mark)) { writeFileSync(mark, ''); process.exit(1); }
       parentPort.postMessage({ id, spans: texts.map((text) => [{ start: 0, end: text.length, category: order }]) });
     });`,
  );
  return pathToFileURL(file);
}

describe('small texts', () => {
  test('are searched on the spot, up to the threshold', async () => {
    const pool = open({ threadModule: pathToFileURL(join(folder, 'missing.mjs')) });
    expect(pool.needsWorker(65_536)).toBe(false);
    expect(pool.needsWorker(65_537)).toBe(true);
    const text = 'mail ada@example.com, +49 30 901820';
    expect(pool.findNow(text)).toEqual(detection.find(text));
    expect(pool.findNow(text, new Set(['PHONE']))).toEqual(detection.find(text, new Set(['PHONE'])));
    expect(await pool.find([text, 'nothing', ''])).toEqual([detection.find(text), [], []]);
    expect(await pool.find([])).toEqual([]);
  });

  test('the threshold counts all texts together', async () => {
    const pool = open({ thresholdChars: 10, threadModule: unreliable() });
    expect(await pool.find(['12345', '12345'])).toEqual([[], []]);
    expect(await pool.find(['12345', 'sixsix'])).toMatchObject([[{ category: 'sixsix' }], [{ category: 'sixsix' }]]);
  });
});

describe('large texts', () => {
  test('are searched in a thread with the same finds', async () => {
    const pool = open();
    const texts = [large('ada@example.com'), '\ud800 +49 30 901820 😀', large('DE89370400440532013000\u200b'), ''];
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    const finds = await pool.find(texts);
    expect(turned).toBe(true);
    expect(finds).toEqual(texts.map((text) => detection.find(text)));
    const only = new Set(['EMAIL']);
    expect(await pool.find(texts, only)).toEqual(texts.map((text) => detection.find(text, only)));
  });

  test('the threads know the regions', async () => {
    const pool = open({ phoneRegions: ['DK'] });
    const text = large('Telefon 32 12 34 56');
    expect((await pool.find([text]))[0]).toMatchObject([{ category: 'PHONE' }]);
    expect((await open({ phoneRegions: ['DE'] }).find([text]))[0]).toEqual([]);
  });

  test('each job gets its own answer, with one thread and with two', async () => {
    for (const workers of [1, 2]) {
      const pool = open({ workers, thresholdChars: 0 });
      const texts = Array.from({ length: 12 }, (_, index) => `${'x '.repeat(index * 50)}user${index}@example.com`);
      const finds = await Promise.all(texts.map((text) => pool.find([text])));
      expect(finds).toEqual(texts.map((text) => [detection.find(text)]));
    }
  });
});

describe('a thread that dies', () => {
  test('is replaced, and its job tried once more', async () => {
    const pool = open({ thresholdChars: 0, threadModule: unreliable() });
    const mark = join(folder, 'mark');
    expect(await pool.find([`die once ${mark}`])).toMatchObject([[{ start: 0 }]]);
    expect(existsSync(mark)).toBe(true);
  });

  test.each(['die', 'throw'])('twice on the same job fails it, and the others go on: %s', async (order) => {
    const pool = open({ thresholdChars: 0, threadModule: unreliable() });
    const [failed, before, after] = await Promise.allSettled([pool.find([order]), pool.find(['b']), pool.find(['c'])]);
    expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(DetectionUnavailable) as unknown });
    expect(before).toMatchObject({ status: 'fulfilled', value: [[{ category: 'b' }]] });
    expect(after).toMatchObject({ status: 'fulfilled', value: [[{ category: 'c' }]] });
    expect(await pool.find(['later'])).toMatchObject([[{ category: 'later' }]]);
  });

  test('before it ever ran fails the job', async () => {
    const pool = open({ thresholdChars: 0, threadModule: pathToFileURL(join(folder, 'missing.mjs')) });
    await expect(pool.find(['a'])).rejects.toThrow(DetectionUnavailable);
  });

  test('says nothing of the texts', async () => {
    const pool = open({ thresholdChars: 0, threadModule: unreliable() });
    const error: unknown = await pool.find(['canary-7431', 'die']).catch((reason: unknown) => reason);
    expect(String(error) + JSON.stringify(error)).not.toContain('canary');
  });
});

describe('the queue', () => {
  test('has room for so many jobs', async () => {
    const pool = open({ thresholdChars: 0, maxQueuedJobs: 2, threadModule: unreliable() });
    const held = [pool.find(['hold']), pool.find(['a']), pool.find(['b'])].map((found) =>
      found.catch((reason: unknown) => reason),
    );
    await expect(pool.find(['c'])).rejects.toThrow(/too many/);
    await pool.close();
    for (const outcome of await Promise.all(held)) expect(outcome).toBeInstanceOf(DetectionUnavailable);
  });

  test('and for so many characters', async () => {
    const pool = open({ thresholdChars: 0, maxQueuedChars: 10, threadModule: unreliable() });
    const held = [pool.find(['hold']), pool.find(['12345'])].map((found) => found.catch((reason: unknown) => reason));
    await expect(pool.find(['123456'])).rejects.toThrow(DetectionUnavailable);
    const fits = pool.find(['12345']).catch((reason: unknown) => reason);
    await pool.close();
    for (const outcome of await Promise.all([...held, fits])) expect(outcome).toBeInstanceOf(DetectionUnavailable);
  });

  test('is left by what nobody waits for any more, with its room', async () => {
    const pool = open({ thresholdChars: 0, maxQueuedJobs: 1, maxQueuedChars: 10, threadModule: unreliable() });
    const held = pool.find(['hold']).catch((reason: unknown) => reason);
    const gone = new AbortController();
    const left = pool.find(['1234567890'], undefined, gone.signal);
    await expect(pool.find(['c'])).rejects.toThrow(/too many/);
    const why = new Error('gone');
    gone.abort(why);
    await expect(left).rejects.toBe(why);
    await expect(pool.find(['a'], undefined, gone.signal)).rejects.toBe(why);
    const fits = pool.find(['1234567890']).catch((reason: unknown) => reason);
    await pool.close();
    for (const outcome of await Promise.all([held, fits])) expect(String(outcome)).toContain('was closed');
  });

  test('is left in order: a job that was put back goes first', async () => {
    const pool = open({ thresholdChars: 0, threadModule: unreliable() });
    const done: string[] = [];
    const jobs = [`die once ${join(folder, 'mark')}`, 'second', 'third'];
    await Promise.all(jobs.map((order) => pool.find([order]).then(() => done.push(order))));
    expect(done).toEqual(jobs);
  });
});

describe('closing', () => {
  test('rejects what comes after, of any size that needs a thread', async () => {
    const pool = open({ thresholdChars: 5 });
    await pool.close();
    await pool.close();
    await expect(pool.find(['a long text'])).rejects.toThrow(DetectionUnavailable);
    expect(await pool.find(['a'])).toEqual([[]]);
  });

  test('is not needed for the process to end: an idle thread does not hold it', async () => {
    const script = join(folder, 'script.mjs');
    const module = new URL('./detect-worker.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { createDetectionPool } from ${JSON.stringify(module)};
       const pool = createDetectionPool({ thresholdChars: 0 });
       const finds = await pool.find(['ada@example.com']);
       console.log(finds[0][0].category);`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 20_000 });
    expect(stdout).toBe('EMAIL\n');
  });
});
