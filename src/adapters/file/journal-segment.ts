import { open, rename, unlink, type FileHandle } from 'node:fs/promises';
import type { JournaledRow } from '#/ports/row-journal.ts';
import { readJournalLine } from './journal-line.ts';

/** A damaged line of a journal; the lines after it are still read. */
export interface JournalDamage {
  readonly file: string;
  /** Byte that the line begins at. */
  readonly offset: number;
}

const READ_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/** One file of a journal: written at its end, read from its beginning. */
export class JournalSegment {
  readonly path: string;
  readonly #file: FileHandle;
  readonly #onDamage: (damage: JournalDamage) => void;
  /** Bytes that are known to be on the disk. */
  #size: number;
  #taken = 0;
  #given = 0;
  #damaged = false;
  #broken = false;

  private constructor(path: string, file: FileHandle, size: number, onDamage: (damage: JournalDamage) => void) {
    this.path = path;
    this.#file = file;
    this.#size = size;
    this.#onDamage = onDamage;
  }

  /** Makes a file that must not be there yet. */
  static async create(path: string, onDamage: (damage: JournalDamage) => void): Promise<JournalSegment> {
    return new JournalSegment(path, await open(path, 'wx+', 0o600), 0, onDamage);
  }

  /** A file that another process wrote. */
  static async reopen(path: string, onDamage: (damage: JournalDamage) => void): Promise<JournalSegment> {
    const file = await open(path, 'r+');
    return new JournalSegment(path, file, (await file.stat()).size, onDamage);
  }

  get size(): number {
    return this.#size;
  }

  /** Whether it can be written to: not after a write whose half could not be taken back. */
  get writable(): boolean {
    return !this.#broken;
  }

  /**
   * Resolves once the bytes are on the disk: true, or false when another process took the owner for
   * dead and removed the file, perhaps without having seen them.
   */
  async append(bytes: Buffer): Promise<boolean> {
    try {
      for (let written = 0; written < bytes.length;) {
        const wrote = await this.#file.write(bytes, written, bytes.length - written, this.#size + written);
        written += wrote.bytesWritten;
      }
      await this.#file.datasync();
    } catch (error) {
      await this.#file.truncate(this.#size).catch(() => (this.#broken = true));
      throw error;
    }
    this.#size += bytes.length;
    return (await this.#file.stat()).nlink > 0;
  }

  /** The rows after those that were taken, about a megabyte of them. A line that is not whole yet is no row. */
  async next(): Promise<readonly JournaledRow[]> {
    this.#given = this.#taken;
    while (this.#given < this.#size) {
      const text = await this.#lines(this.#given);
      if (text.length === 0) break;
      const rows = this.#parse(text);
      this.#given += text.length;
      if (rows.length > 0) return rows;
    }
    this.#taken = this.#given;
    return [];
  }

  take(): void {
    this.#taken = this.#given;
  }

  /** Moves rows that cannot be written to the ledger into a separate file, which stays. */
  async setAside(bytes: Buffer): Promise<void> {
    const file = await open(`${this.path}.refused`, 'a', 0o600);
    try {
      await file.appendFile(bytes);
      await file.datasync();
    } finally {
      await file.close();
    }
  }

  /** Whether more was written since, by a process that was not dead after all; `next` goes on with it. */
  async grown(): Promise<boolean> {
    const { size } = await this.#file.stat();
    const grown = size > this.#size;
    this.#size = size;
    return grown;
  }

  /** Removes the file, or puts it aside when some of it could not be read. */
  async remove(): Promise<void> {
    const gone = (error: NodeJS.ErrnoException): void => {
      if (error.code !== 'ENOENT') throw error;
    };
    await (this.#damaged ? rename(this.path, `${this.path}.damaged`) : unlink(this.path)).catch(gone);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Whole lines from an offset on; empty at the end. */
  async #lines(from: number): Promise<Buffer> {
    for (let length = READ_BYTES; ; length *= 2) {
      const bytes = Buffer.allocUnsafe(Math.min(length, this.#size - from));
      const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, from);
      const end = bytes.subarray(0, bytesRead).lastIndexOf(LINE_FEED) + 1;
      if (end > 0 || bytesRead < length) return bytes.subarray(0, end);
    }
  }

  #parse(text: Buffer): JournaledRow[] {
    const rows: JournaledRow[] = [];
    for (let at = 0; at < text.length;) {
      const end = text.indexOf(LINE_FEED, at);
      const row = readJournalLine(text.toString('utf8', at, end));
      if (row) rows.push(row);
      else {
        this.#damaged = true;
        this.#onDamage({ file: this.path, offset: this.#given + at });
      }
      at = end + 1;
    }
    return rows;
  }
}
