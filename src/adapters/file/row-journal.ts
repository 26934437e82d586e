import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { JournaledRow, JournalState, RowBacklog, RowJournal } from '#/ports/row-journal.ts';
import { journalLine } from './journal-line.ts';
import { JournalSegment, type JournalDamage } from './journal-segment.ts';
import { showPresence, type Presence } from './presence.ts';

export interface RowJournalOptions {
  /** Shared by the processes that may take over each other's rows; made when missing. On one machine. */
  readonly folder: string;
  /** Size of all files from which on no more calls should begin. */
  readonly maxBytes: number;
  /** Told of lines that are not as they were written: their rows are lost, and the file is kept. */
  readonly onDamage: (damage: JournalDamage) => void;
}

/** A file is closed at this size, so that disk is given back while rows still come. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

/**
 * Opens a journal of rows in files of `folder`, named by a random id, a number, and the process they belong to. Rejects
 * when the folder cannot be used.
 */
export async function openRowJournal(options: RowJournalOptions): Promise<RowJournal & { close(): Promise<void> }> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  return new FileJournal(options, await showPresence(options.folder));
}

class FileJournal implements RowJournal {
  readonly #options: RowJournalOptions;
  readonly #presence: Presence;
  readonly #name = randomUUID();
  /** Oldest first; the last is written to. */
  readonly #segments: JournalSegment[] = [];
  #inherited: readonly InheritedSegment[] = [];
  #numbered = 0;
  #writing = false;
  #oldest: number | undefined;

  constructor(options: RowJournalOptions, presence: Presence) {
    this.#options = options;
    this.#presence = presence;
  }

  async write(rows: readonly JournaledRow[]): Promise<void> {
    const bytes = Buffer.from(rows.map(journalLine).join(''));
    this.#writing = true;
    try {
      for (let fresh = false; ; fresh = true) {
        // A process that removes a file has taken over the rows it had then: new rows go to another file.
        if (await (await this.#writable(bytes.length, fresh)).append(bytes)) break;
      }
      this.#oldest ??= rows[0]?.row.at;
    } finally {
      this.#writing = false;
    }
  }

  async next(): Promise<readonly JournaledRow[]> {
    for (;;) {
      const segment = this.#segments[0];
      if (!segment) break;
      const { size } = segment;
      const rows = await segment.next();
      if (rows.length > 0) {
        this.#oldest = rows[0]!.row.at;
        return rows;
      }
      if (segment.size !== size) continue;
      if (this.#segments.length === 1 && this.#writing) return [];
      this.#segments.shift();
      await segment.remove();
      await segment.close();
    }
    this.#oldest = undefined;
    return [];
  }

  async taken(refused: readonly JournaledRow[] = []): Promise<void> {
    const [segment] = this.#segments;
    if (segment) await take(segment, refused);
  }

  async inherit(): Promise<readonly RowBacklog[]> {
    const alive = new Map<string, boolean>();
    const found: InheritedSegment[] = [];
    for (const file of (await readdir(this.#options.folder)).sort()) {
      const [, name, owner] = /^([0-9a-f-]{36}\.\d{6})\.([0-9a-f]{12})\.journal$/.exec(file) ?? [];
      if (name === undefined || owner === undefined) continue;
      if (!alive.has(owner)) alive.set(owner, await this.#presence.alive(owner));
      if (alive.get(owner)) continue;
      const path = await this.#claim(file, `${name}.${this.#presence.id}.journal`);
      if (path !== undefined)
        found.push(new InheritedSegment(await JournalSegment.reopen(path, this.#options.onDamage)));
    }
    this.#inherited = [...this.#inherited.filter(({ size }) => size > 0), ...found];
    return found;
  }

  state(): JournalState {
    const bytes = [...this.#segments, ...this.#inherited].reduce((sum, { size }) => sum + size, 0);
    return { bytes, limit: this.#options.maxBytes, oldest: this.#oldest };
  }

  /** What it holds stays on the disk, for another process. */
  async close(): Promise<void> {
    await this.#presence.close();
    await Promise.allSettled(this.#segments.map((segment) => segment.close()));
  }

  /** The file to write to, made on the disk before anything is written: the last one, while it has room. */
  async #writable(bytes: number, fresh: boolean): Promise<JournalSegment> {
    const last = this.#segments.at(-1);
    if (last?.writable && !fresh && (last.size === 0 || last.size + bytes <= SEGMENT_BYTES)) return last;
    const number = String(++this.#numbered).padStart(6, '0');
    const { folder, onDamage } = this.#options;
    const path = join(folder, `${this.#name}.${number}.${this.#presence.id}.journal`);
    const segment = await JournalSegment.create(path, onDamage);
    this.#segments.push(segment);
    const entries = await open(folder, 'r');
    try {
      await entries.sync();
    } finally {
      await entries.close();
    }
    return segment;
  }

  /** Renames a dead process' file: of several that try, one does. */
  async #claim(from: string, to: string): Promise<string | undefined> {
    const path = join(this.#options.folder, to);
    try {
      await rename(join(this.#options.folder, from), path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }
}

/** A file that a dead process left. */
class InheritedSegment implements RowBacklog {
  readonly #segment: JournalSegment;
  #state: 'there' | 'removed' | 'closed' = 'there';

  constructor(segment: JournalSegment) {
    this.#segment = segment;
  }

  get size(): number {
    return this.#state === 'there' ? this.#segment.size : 0;
  }

  async next(): Promise<readonly JournaledRow[]> {
    while (this.#state !== 'closed') {
      const rows = await this.#segment.next();
      if (rows.length > 0) return rows;
      if (this.#state === 'there') await this.#segment.remove();
      this.#state = 'removed';
      // Had its owner been alive, it would have noticed now that the file is gone; what it wrote before is read here.
      if (await this.#segment.grown()) continue;
      this.#state = 'closed';
      await this.#segment.close();
    }
    return [];
  }

  async taken(refused: readonly JournaledRow[] = []): Promise<void> {
    await take(this.#segment, refused);
  }
}

async function take(segment: JournalSegment, refused: readonly JournaledRow[]): Promise<void> {
  if (refused.length > 0) await segment.setAside(Buffer.from(refused.map(journalLine).join('')));
  segment.take();
}
