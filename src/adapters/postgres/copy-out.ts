import pg, { type Connection, type PoolClient, type Submittable } from 'pg';
import type { Statement } from './statements.ts';

const FIRST_BYTES = 1 << 20;

/** A value that is written into a statement; a list is an array of the database. */
type Value = string | number | boolean | null | readonly string[];

/** The statement as a COPY in binary format. COPY takes no parameters: the values are quoted and put in their places. */
export function copyQuery({ text }: Statement, values: readonly Value[] = []): string {
  const filled = text.replace(/\$(\d+)/g, (_, number: string) => literal(values[Number(number) - 1] ?? null));
  return `COPY (${filled}) TO STDOUT (FORMAT binary)`;
}

function literal(value: Value): string {
  if (value === null || typeof value === 'boolean') return String(value);
  return pg.escapeLiteral(typeof value === 'object' ? `{${value.join()}}` : String(value));
}

export interface CopyOptions {
  readonly timeoutMs: number;
  /** Is handed each piece as it comes, good until it returns; what it is handed is not collected. */
  readonly take?: (chunk: Buffer) => void;
}

/**
 * What a `COPY … TO STDOUT` sends: values come as the server keeps them, without being made into text and objects. A piece
 * is a row, the first with the header before it. Rejects when it fails, or when `take` throws, or takes too long.
 */
export function copyOut(client: PoolClient, sql: string, { timeoutMs, take }: CopyOptions): Promise<Buffer> {
  const collected = new Collected();
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => (error ? reject(error) : resolve(collected.bytes()));
    client.query(new CopyOut(sql, timeoutMs, take ?? ((chunk) => collected.add(chunk)), done));
  });
}

/** Pieces as one. Copied: the client uses the memory of its messages again. */
class Collected {
  #bytes = Buffer.alloc(0);
  #length = 0;

  add(chunk: Buffer): void {
    const end = this.#length + chunk.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(end, this.#bytes.length * 2, FIRST_BYTES));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = end;
  }

  bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** A query as node-postgres drives it: it is handed each message of the answer, and calls back at the end. */
class CopyOut implements Submittable {
  readonly query_timeout: number;
  /** Wrapped by the client, for the timeout. */
  callback: (error?: Error | null) => void;
  readonly #sql: string;
  readonly #take: (chunk: Buffer) => void;
  #failed: Error | undefined;

  constructor(sql: string, timeoutMs: number, take: (chunk: Buffer) => void, done: (error?: Error | null) => void) {
    this.#sql = sql;
    this.#take = take;
    this.query_timeout = timeoutMs;
    this.callback = done;
  }

  submit(connection: Connection): void {
    connection.query(this.#sql);
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (this.#failed) return;
    try {
      this.#take(chunk);
    } catch (error) {
      this.#failed = error instanceof Error ? error : new Error(String(error));
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#failed = error;
    this.callback(error);
  }

  handleReadyForQuery(): void {
    this.callback(this.#failed);
  }
}
