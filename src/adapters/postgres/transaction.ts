import type { PoolClient } from 'pg';
import type { Connections } from './pool.ts';

/** Runs `work` in a transaction of its own, begun with `begin`. What it throws rolls everything back and is thrown on. */
export async function inTransaction<T>(
  pool: Connections,
  work: (client: PoolClient) => Promise<T>,
  begin: `BEGIN${string}` = 'BEGIN',
): Promise<T> {
  const client = await pool.connect();
  let fault: Error | undefined;
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    fault = error instanceof Error ? error : new Error(String(error));
    throw error;
  } finally {
    // A connection whose transaction failed is closed, which rolls it back.
    client.release(fault);
  }
}
