import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JournaledRow, RowBacklog, RowJournal } from '#/ports/row-journal.ts';
import { StrandBuilder } from '../../../test/contract/ledger-rows.ts';
import type { JournalDamage } from './journal-segment.ts';
import { openRowJournal } from './row-journal.ts';

const MIB = 1024 * 1024;
let folder: string;
let damages: JournalDamage[];
let opened: { close(): Promise<void> }[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gw-rows-'));
  damages = [];
  opened = [];
});
afterEach(async () => {
  await Promise.all(opened.map((journal) => journal.close()));
  rmSync(folder, { recursive: true, force: true });
});

async function openJournal(maxBytes = 64 * MIB): Promise<RowJournal & { close(): Promise<void> }> {
  const journal = await openRowJournal({ folder, maxBytes, onDamage: (damage) => damages.push(damage) });
  opened.push(journal);
  return journal;
}

/** Rows of one strand, some to be settled and some not. */
function rowsOf(count: number, strand = new StrandBuilder(), model = 'ö/«"\\\u2028'): JournaledRow[] {
  return strand
    .sealMany(count, () => ({ model, cost: 2n ** 60n }))
    .map((row, index) => ({
      row,
      settlement:
        index % 3 === 0
          ? undefined
          : { callId: row.callId, organization: row.organization, cost: row.cost + 1n, tokens: index },
    }));
}

async function takeAll(backlog: RowBacklog): Promise<JournaledRow[]> {
  const all: JournaledRow[] = [];
  for (let rows = await backlog.next(); rows.length > 0; rows = await backlog.next()) {
    all.push(...rows);
    await backlog.taken();
  }
  return all;
}

async function inherited(journal: RowJournal): Promise<JournaledRow[]> {
  const all: JournaledRow[] = [];
  for (const backlog of await journal.inherit()) all.push(...(await takeAll(backlog)));
  return all;
}

const files = (): string[] => readdirSync(folder).filter((file) => !file.endsWith('.sock'));

describe('a journal of rows', () => {
  test('replays the written rows in order, then frees the disk', async () => {
    const journal = await openJournal();
    const rows = rowsOf(3000);
    for (let from = 0; from < rows.length; from += 500) await journal.write(rows.slice(from, from + 500));
    expect(journal.state().bytes).toBeGreaterThan(MIB);
    expect(journal.state().oldest).toBe(rows[0]!.row.at);
    expect(statSync(join(folder, files()[0]!)).mode & 0o077).toBe(0);
    // The same ones until they are taken.
    expect(await journal.next()).toEqual(await journal.next());
    expect(await takeAll(journal)).toEqual(rows);
    expect(files()).toEqual([]);
    expect(journal.state()).toMatchObject({ bytes: 0, oldest: undefined });
    await journal.write(rows.slice(0, 1));
    expect(await takeAll(journal)).toEqual(rows.slice(0, 1));
  });

  test('takes rows while others are read', async () => {
    const journal = await openJournal();
    const rows = rowsOf(4000);
    const writing = (async () => {
      for (let from = 0; from < rows.length; from += 100) await journal.write(rows.slice(from, from + 100));
    })();
    const read: JournaledRow[] = [];
    while (read.length < rows.length) {
      read.push(...(await takeAll(journal)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writing;
    expect(read).toEqual(rows);
    expect(await journal.next()).toEqual([]);
    expect(files()).toEqual([]);
  });

  test('gives disk back while rows still come', async () => {
    const journal = await openJournal();
    const strand = new StrandBuilder();
    let most = 0;
    for (let round = 0; round < 6; round++) {
      // Nine megabytes.
      await journal.write(rowsOf(90, strand, 'x'.repeat(100_000)));
      if (round > 1) {
        await journal.next();
        for (let left = 9; left > 0; left--) {
          await journal.taken();
          await journal.next();
        }
      }
      most = Math.max(most, journal.state().bytes);
    }
    expect(most).toBeLessThan(45 * MIB);
  });

  test('holds a row of any size', async () => {
    const journal = await openJournal();
    const rows = rowsOf(3, new StrandBuilder(), 'y'.repeat(5 * MIB));
    await journal.write(rows);
    expect(await takeAll(journal)).toEqual(rows);
  });
});

describe('what a dead process left', () => {
  test('goes to one process that asks, once; a folder of a live process goes to none', async () => {
    const [dead, live] = [await openJournal(), await openJournal()];
    const [left, held] = [rowsOf(700), rowsOf(5)];
    await dead.write(left);
    await live.write(held);
    await dead.close();
    const heirs = await Promise.all([openJournal(), openJournal(), openJournal()]);
    const got = await Promise.all(heirs.map((heir) => inherited(heir)));
    expect(got.map((rows) => rows.length).toSorted((a, b) => a - b)).toEqual([0, 0, 700]);
    expect(got.find((rows) => rows.length > 0)).toEqual(left);
    expect(files()).toHaveLength(1);
    expect(await takeAll(live)).toEqual(held);
    expect(damages).toEqual([]);
  });

  test('comes to the next when its heir dies too', async () => {
    const dead = await openJournal();
    const left = rowsOf(10);
    await dead.write(left);
    await dead.close();
    const heir = await openJournal();
    const [backlog] = await heir.inherit();
    expect(await backlog!.next()).toEqual(left);
    expect(heir.state().bytes).toBeGreaterThan(0);
    await heir.close();
    expect(await inherited(await openJournal())).toEqual(left);
    expect(files()).toEqual([]);
  });

  test('torn at any byte of its last line: the whole ones come, without a word', async () => {
    const dead = await openJournal();
    const left = rowsOf(3);
    await dead.write(left);
    const [file] = files();
    const whole = readFileSync(join(folder, file!));
    await dead.close();
    const lastLine = whole.lastIndexOf(10, whole.length - 2) + 1;
    const heir = await openJournal();
    for (let length = lastLine; length < whole.length; length += 37) {
      writeFileSync(join(folder, file!), whole.subarray(0, length));
      expect(await inherited(heir)).toEqual(left.slice(0, 2));
      expect(files()).toEqual([]);
    }
    writeFileSync(join(folder, file!), '');
    expect(await inherited(heir)).toEqual([]);
    expect(damages).toEqual([]);
  });

  test('damaged in its middle: told by place, the rest comes, the file is kept', async () => {
    const dead = await openJournal();
    const left = rowsOf(5);
    await dead.write(left);
    const [file] = files();
    const bytes = readFileSync(join(folder, file!));
    await dead.close();
    const second = bytes.indexOf(10) + 1;
    bytes[second + 200]! ^= 1;
    writeFileSync(join(folder, file!), bytes);
    appendFileSync(join(folder, file!), 'nonsense\n\n');
    expect(await inherited(await openJournal())).toEqual(left.toSpliced(1, 1));
    expect(damages.map(({ offset }) => offset)).toEqual([second, bytes.length, bytes.length + 9]);
    expect(files()).toEqual([expect.stringMatching(/\.damaged$/)]);
    expect(readFileSync(join(folder, files()[0]!)).subarray(0, bytes.length)).toEqual(bytes);
  });

  test('was not dead after all: what it writes to a file that was taken from it goes to another', async () => {
    const journal = await openJournal();
    const rows = rowsOf(6);
    await journal.write(rows.slice(0, 2));
    rmSync(join(folder, files()[0]!));
    await journal.write(rows.slice(2, 4));
    expect(files()).toHaveLength(1);
    await journal.write(rows.slice(4));
    const fresh = await takeAll(journal);
    // The rows of the first file are still read from it, and the batch that noticed is in both.
    expect(fresh.filter(({ row }) => row.sequence > 2).length).toBeGreaterThanOrEqual(4);
    await journal.close();
  });
});

/** A process of its own that writes batches, and says each once it is on the disk. */
const WRITE_BATCHES = `
  const { openRowJournal } = await import(${JSON.stringify(new URL('./row-journal.ts', import.meta.url).href)});
  const { StrandBuilder } = await import(${JSON.stringify(new URL('../../../test/contract/ledger-rows.ts', import.meta.url).href)});
  const { writeSync } = await import('node:fs');
  const journal = await openRowJournal({ folder: process.argv[1], maxBytes: 1e9, onDamage() {} });
  const strand = new StrandBuilder();
  for (;;) {
    const rows = strand.sealMany(20).map((row) => ({ row, settlement: undefined }));
    try {
      await journal.write(rows);
    } catch (error) {
      writeSync(1, 'refused ' + error.code + '\\n');
      break;
    }
    writeSync(1, rows.at(-1).row.sequence + '\\n');
  }
  process.exit();
`;

describe('the process', () => {
  test('killed at any moment: every row that was acknowledged is there, in order', async () => {
    for (const lines of [1, 10, 60]) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', WRITE_BATCHES, folder], {
        cwd: new URL('../../..', import.meta.url),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const said: number[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        said.push(Number(line));
        if (said.length === lines) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      const rows = await inherited(await openJournal());
      expect(rows.map(({ row }) => row.sequence)).toEqual(rows.map((_, index) => index + 1));
      expect(rows.length).toBeGreaterThanOrEqual(said.at(-1)!);
    }
    expect(damages).toEqual([]);
  });

  test('out of disk: the batch is refused, its partial write is undone, acknowledged rows stay', async () => {
    const script = `trap '' XFSZ; ulimit -f 200; exec "$0" --input-type=module -e "$1" "$2"`;
    const said = execFileSync('bash', ['-c', script, process.execPath, WRITE_BATCHES, folder], {
      cwd: new URL('../../..', import.meta.url),
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
    expect(said.at(-1)).toBe('refused EFBIG');
    const rows = await inherited(await openJournal());
    expect(rows).toHaveLength(Number(said.at(-2)));
    expect(rows.length).toBeGreaterThan(20);
    expect(damages).toEqual([]);
  });
});
