import { closeSync, ftruncateSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { CountersUnavailable, type OpenHold } from '#/ports/limit-counters.ts';

/**
 * Open holds on disk, a line for each that is placed or closed, written before its caller hears of it: they survive
 * the death of the process, though not of the machine (nothing is forced to the disk). One process at a time.
 */
export interface Journal {
  /** Throws CountersUnavailable when the line cannot be written; then it is not there. */
  placed(holds: readonly OpenHold[]): void;
  closed(holds: readonly OpenHold[]): void;
  close(): void;
}

type Line = readonly ['hold', ...Facts] | readonly ['closed', organization: string, callId: string];

type Facts = readonly [
  organization: string,
  callId: string,
  owner: string,
  workload: string,
  at: number,
  day: string,
  month: string,
  amount: string,
  tokens: number,
  draft: string,
];

/** The journal may grow by this much before it is rewritten with the open holds. */
const MOST_GROWTH = 1024 * 1024;

/**
 * Opens a journal; `open` are the holds it left open. `live` must list, at any time, the holds that are not closed.
 * Throws when a line other than a torn last one cannot be read: a lost hold is lost money.
 */
export function openJournal(
  path: string,
  live: () => Iterable<OpenHold>,
): { journal: Journal; open: readonly OpenHold[] } {
  const open = readJournal(path);
  let size = rewrite(path, open);
  let compactAt = size + MOST_GROWTH;
  let file: number | undefined = openSync(path, 'a');

  function compact(): void {
    size = rewrite(path, live());
    close();
    file = openSync(path, 'a');
    compactAt = 2 * size + MOST_GROWTH;
  }

  function append(text: string): void {
    if (file === undefined) throw new CountersUnavailable('the journal of holds is closed');
    try {
      if (size > compactAt) compact();
      const bytes = Buffer.from(text);
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
      size += bytes.length;
    } catch {
      undo();
      throw new CountersUnavailable('the journal of holds cannot be written');
    }
  }

  /** Takes a half-written line away again: the next one must not continue it. When even that fails, no more is written. */
  function undo(): void {
    try {
      if (file !== undefined) ftruncateSync(file, size);
    } catch {
      close();
    }
  }

  function close(): void {
    if (file !== undefined) closeSync(file);
    file = undefined;
  }

  const journal: Journal = {
    placed: (holds) => append(holds.map(holdLine).join('')),
    closed(holds) {
      let lines = '';
      for (const { organization, callId } of holds)
        lines += `${JSON.stringify(['closed', organization, callId] satisfies Line)}\n`;
      append(lines);
    },
    close,
  };
  return { journal, open };
}

function readJournal(path: string): OpenHold[] {
  const open = new Map<string, OpenHold>();
  const lines = readText(path).split('\n');
  lines.pop(); // empty, or torn by the end of the process
  for (const [index, text] of lines.entries()) {
    const entry = parseLine(text);
    if (!entry) throw new Error(`${path}: line ${index + 1} cannot be read; holds recorded in it would be lost`);
    if (entry[0] === 'hold') {
      const hold = readHold(entry);
      open.set(keyOf(hold.organization, hold.callId), hold);
    } else open.delete(keyOf(entry[1], entry[2]));
  }
  return [...open.values()];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}

function parseLine(text: string): Line | undefined {
  try {
    const entry: unknown = JSON.parse(text);
    if (!Array.isArray(entry)) return undefined;
    const isHold = entry[0] === 'hold' && entry.length === 11 && /^\d+$/.test(String(entry[8]));
    const isClosed = entry[0] === 'closed' && entry.length === 3;
    return isHold || isClosed ? (entry as unknown as Line) : undefined;
  } catch {
    return undefined;
  }
}

function readHold([, ...facts]: readonly ['hold', ...Facts]): OpenHold {
  const [organization, callId, owner, workload, at, day, month, amount, tokens, draft] = facts;
  return { organization, callId, owner, workload, at, periods: { day, month }, amount: BigInt(amount), tokens, draft };
}

function holdLine({ organization, callId, owner, workload, at, periods, amount, tokens, draft }: OpenHold): string {
  const { day, month } = periods;
  const line: Line = ['hold', organization, callId, owner, workload, at, day, month, String(amount), tokens, draft];
  return `${JSON.stringify(line)}\n`;
}

function keyOf(organization: string, callId: string): string {
  return JSON.stringify([organization, callId]);
}

/** Replaces the journal by `holds`, all or nothing. Returns its size. */
function rewrite(path: string, holds: Iterable<OpenHold>): number {
  const bytes = Buffer.from(Array.from(holds, holdLine).join(''));
  writeFileSync(`${path}.new`, bytes, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return bytes.length;
}
