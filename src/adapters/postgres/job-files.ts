import type { JobFile, JobFiles } from '#/ports/document-jobs.ts';
import type { Connections } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';
import { inTransaction } from './transaction.ts';

const TIMEOUT_MS = 60_000;
/** A statement holds no more of a file, here and in the server. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Files of jobs in pieces, stored separately from the jobs. */
export function openPostgresJobFiles(pool: Connections): JobFiles {
  return {
    put: (file, encrypted) => put(pool, file, encrypted),
    get: (file) => get(pool, file),
    async remove({ job, part }) {
      await pool.query(query(STATEMENTS.removeFile, [job, part], TIMEOUT_MS));
    },
  };
}

function put(pool: Connections, { job, part }: JobFile, encrypted: Uint8Array): Promise<void> {
  return inTransaction(pool, async (client) => {
    await client.query(query(STATEMENTS.removeFile, [job, part], TIMEOUT_MS));
    for (let number = 0; number * PIECE_BYTES < encrypted.length; number++) {
      const piece = encrypted.subarray(number * PIECE_BYTES, (number + 1) * PIECE_BYTES);
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      await client.query(query(STATEMENTS.putFile, [job, part, number, bytes], TIMEOUT_MS));
    }
  });
}

/** A file that is replaced while it is read opens nowhere: it is authenticated as a whole. */
async function get(pool: Connections, { job, part }: JobFile): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  for (;;) {
    const { rows } = await pool.query<{ sealed: string }>(
      query(STATEMENTS.getFile, [job, part, pieces.length], TIMEOUT_MS),
    );
    const [row] = rows;
    if (!row) return pieces.length === 0 ? undefined : Buffer.concat(pieces);
    pieces.push(Buffer.from(row.sealed, 'hex'));
  }
}
