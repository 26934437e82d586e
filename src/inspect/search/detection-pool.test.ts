import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createScanner } from '../detectors/scanner.ts';
import type { Asker } from '#/runtime/fair-places.ts';
import { createDetectionPool, type DetectionPool, type DetectionPoolOptions } from './detection-pool.ts';
import { DetectionUnavailable, SearchTooLarge } from '../detection.ts';
import { MOST_MATCHES } from './match-pack.ts';

const detection = createScanner();
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
  const pool = createDetectionPool({ triedChars: 0, ...options });
  pools.push(pool);
  return pool;
}

/**
 * A module for threads that does as each job's last text says: `die`, `die once <file>`, `throw`, `hold`, `go on` for
 * another turn each time; else answers. It notes the jobs that it gives a turn, and those that it is to forget.
 */
function unreliable(): URL {
  const file = join(folder, 'unreliable.mjs');
  const log = join(folder, 'log');
  writeFileSync(
    file,
    `import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
     import { parentPort } from 'node:worker_threads';
     const begun = new Map();
     parentPort.on('message', ({ kind, id, search }) => {
       if (search) begun.set(id, search.texts);
       const texts = begun.get(id);
       const order = texts?.at(-1).trim();
       appendFileSync(${JSON.stringify(log)}, kind + ' ' + order + '\\n');
       if (kind === 'drop') return;
       if (order === 'die') process.exit(1);
       if (order === 'throw') throw new Error('thrown on purpose');
       if (order === 'hold') return;
       if (order === 'spin') for (;;);
       if (order.startsWith('go on')) return void setTimeout(() => parentPort.postMessage({ id }), 5);
       const [, mark] = /^die once (.*)$/.exec(order) ?? [];
       if (mark !== undefined && !existsSync(mark)) { writeFileSync(mark, ''); process.exit(1); }
       const numbers = Int32Array.from(texts.flatMap((text) => [1, 0, text.length, 0, -1]));
       parentPort.postMessage({ id, found: { numbers, words: [order] } });
     });`,
  );
  return pathToFileURL(file);
}

/** What the unreliable threads noted. */
function noted(): readonly string[] {
  const log = join(folder, 'log');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
}

const held = (found: Promise<unknown>): Promise<unknown> => found.catch((reason: unknown) => reason);
const asker = (organization: string, workload = 'w'): Asker => ({ organization, workload });

describe('small texts', () => {
  test('are searched on the spot, up to the threshold', async () => {
    const pool = open({ threadModule: pathToFileURL(join(folder, 'missing.mjs')) });
    expect(pool.needsWorker(16_384)).toBe(false);
    expect(pool.needsWorker(16_385)).toBe(true);
    const text = 'mail ada@example.com, +49 30 901820';
    expect(pool.findNow(text)).toEqual(detection.find(text));
    expect(pool.findNow(text, new Set(['PHONE']))).toEqual(detection.find(text, new Set(['PHONE'])));
    expect(await pool.find([text, 'nothing', ''])).toEqual([detection.find(text), [], []]);
    expect(await pool.find([])).toEqual([]);
  });

  test('those a little above it have the same finds, on the spot or in a thread', async () => {
    const pool = open({ triedChars: 65_536 });
    const texts = [`${'word '.repeat(4000)}ada@example.com`, '(1)'.repeat(10_000)];
    expect(await pool.find(texts)).toEqual(texts.map((text) => detection.find(text)));
    expect(await pool.find([texts[0]!])).toEqual([detection.find(texts[0]!)]);
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

describe('an organization', () => {
  test('has room for so many jobs, and others have theirs', async () => {
    const pool = open({ thresholdChars: 0, maxJobs: 2, workers: 1, threadModule: unreliable() });
    const ours = [
      pool.find(['hold'], undefined, undefined, asker('a')),
      pool.find(['x'], undefined, undefined, asker('a')),
    ];
    const waiting = ours.map(held);
    await expect(pool.find(['y'], undefined, undefined, asker('a'))).rejects.toThrow(/too many/);
    const others = held(pool.find(['z'], undefined, undefined, asker('b')));
    await pool.close();
    for (const outcome of await Promise.all([...waiting, others])) expect(outcome).toBeInstanceOf(DetectionUnavailable);
    for (const outcome of await Promise.all([...waiting, others])) expect(String(outcome)).toContain('was closed');
  });

  test('has room for so many characters, of which one job may have more', async () => {
    const pool = open({ thresholdChars: 0, maxChars: 10, workers: 1, threadModule: unreliable() });
    const first = held(pool.find(['hold', 'longer than all the room', 'hold'], undefined, undefined, asker('a')));
    await expect(pool.find(['1'], undefined, undefined, asker('a'))).rejects.toThrow(/too many/);
    const others = held(pool.find(['123456'], undefined, undefined, asker('b')));
    await expect(pool.find(['12345'], undefined, undefined, asker('b'))).rejects.toThrow(/too many/);
    await pool.close();
    expect(String(await first) + String(await others)).not.toContain('too many');
  });

  test('gets a turn after each turn of another, whatever that has waiting; its workloads as well', async () => {
    const pool = open({ thresholdChars: 0, workers: 1, threadModule: unreliable() });
    const gone = new AbortController();
    const many = Array.from({ length: 10 }, (_, index) =>
      held(pool.find([`go on ${index}`], undefined, gone.signal, asker('a', index < 9 ? 'w' : 'v'))),
    );
    await expect.poll(() => noted().length).toBeGreaterThan(3);
    const before = noted().length;
    await pool.find(['b'], undefined, undefined, asker('b'));
    expect(noted().indexOf('turn b')).toBeLessThanOrEqual(before + 2);
    await expect.poll(() => noted().length).toBeGreaterThan(before + 20);
    const slices = noted().slice(before);
    const ofOther = slices.filter((turn) => turn === 'turn go on 9').length;
    expect(ofOther).toBeGreaterThan(slices.length / 3);
    gone.abort(new Error('gone'));
    await Promise.all(many);
  });
});

describe('a job', () => {
  test('that nobody waits for any more has no more slices, and its room is free', async () => {
    const pool = open({ thresholdChars: 0, maxJobs: 1, workers: 1, threadModule: unreliable() });
    const gone = new AbortController();
    const left = pool.find(['go on'], undefined, gone.signal);
    await expect.poll(() => noted().length).toBeGreaterThan(2);
    const why = new Error('gone');
    gone.abort(why);
    await expect(left).rejects.toBe(why);
    await expect(pool.find(['a'], undefined, gone.signal)).rejects.toBe(why);
    expect(await pool.find(['next'])).toMatchObject([[{ category: 'next' }]]);
    expect(noted().slice(-2)).toEqual(['drop go on', 'turn next']);
  });

  test('whose turn does not end is ended with its thread, and others go on', async () => {
    const pool = open({ thresholdChars: 0, workers: 1, longestTurnMs: 3000, threadModule: unreliable() });
    const [spun, other] = await Promise.allSettled([
      pool.find(['spin']),
      pool.find(['b'], undefined, undefined, asker('b')),
    ]);
    expect(spun).toMatchObject({ status: 'rejected', reason: expect.any(SearchTooLarge) as unknown });
    expect(other).toMatchObject({ status: 'fulfilled', value: [[{ category: 'b' }]] });
  });

  test('that nobody waits for ends its turn soon, or its thread', async () => {
    const pool = open({ thresholdChars: 0, workers: 1, threadModule: unreliable() });
    const gone = new AbortController();
    const left = held(pool.find(['spin'], undefined, gone.signal));
    await expect.poll(() => noted().length).toBe(1);
    gone.abort(new Error('gone'));
    await left;
    expect(await pool.find(['next'])).toMatchObject([[{ category: 'next' }]]);
  });

  test('that is not done in time is too large if the time was its own, and else was not searched', async () => {
    const pool = open({ thresholdChars: 0, workers: 1, deadlineMs: 300, threadModule: unreliable() });
    await expect(pool.find(['hold'])).rejects.toThrow(SearchTooLarge);
    const busy = Array.from({ length: 4 }, (_, index) =>
      held(pool.find(['go on'], undefined, undefined, asker(`o${index}`))),
    );
    for (const outcome of await Promise.all(busy)) expect(outcome).toBeInstanceOf(DetectionUnavailable);
  });

  test('with more finds than are handed over is too large', async () => {
    const pool = open();
    await expect(pool.find(['a@b.de '.repeat(MOST_MATCHES + 1)])).rejects.toThrow(SearchTooLarge);
    const [found] = await pool.find(['a@b.de '.repeat(MOST_MATCHES)]);
    expect(found).toHaveLength(MOST_MATCHES);
  });

  test('of very many characters leaves a thread to others', async () => {
    const pool = open({ thresholdChars: 0, workers: 2, threadModule: unreliable() });
    const gone = new AbortController();
    const large = ['a', 'b', 'c'].map((one) =>
      held(pool.find(['x'.repeat(2_000_000), 'hold'], undefined, gone.signal, asker(one))),
    );
    expect(await pool.find(['small'], undefined, undefined, asker('d'))).toMatchObject([[{ category: 'small' }]]);
    gone.abort(new Error('gone'));
    await Promise.all(large);
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
    const module = new URL('./detection-pool.ts', import.meta.url).href;
    writeFileSync(
      script,
      `import { createDetectionPool } from ${JSON.stringify(module)};
       const pool = createDetectionPool({ thresholdChars: 0, triedChars: 0 });
       const finds = await pool.find(['ada@example.com']);
       console.log(finds[0][0].category);`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 20_000 });
    expect(stdout).toBe('EMAIL\n');
  });
});
