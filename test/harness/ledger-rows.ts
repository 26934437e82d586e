import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { AuditRow } from '#/seal/row.ts';

/** The audit rows of a database, in the order of their strands, once there are at least `least` of them. */
export async function ledgerRows(databaseUrl: string, least = 0): Promise<AuditRow[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (let tries = 0; ; tries++) {
      const { rows } = await client.query<{ row: string }>(
        'SELECT row_text AS row FROM audit_rows ORDER BY strand, sequence',
      );
      if (rows.length >= least) return rows.map(({ row }) => JSON.parse(row) as AuditRow);
      if (tries === 400) throw new Error(`only ${rows.length} of ${least} audit rows came`);
      await sleep(25);
    }
  } finally {
    await client.end();
  }
}

/** The one audit row of a call, once it is there. */
export async function rowOf(databaseUrl: string, callId: string | null | undefined): Promise<AuditRow> {
  for (let tries = 0; tries < 400; tries++) {
    const found = (await ledgerRows(databaseUrl)).filter((row) => row.call_id === callId);
    if (found.length > 1) throw new Error(`${found.length} audit rows for one call`);
    if (found[0]) return found[0];
    await sleep(25);
  }
  throw new Error(`no audit row for call ${callId}`);
}

/** The audit rows of a request and of the calls made for it, in the order in which these began, once there are `count`. */
export async function rowsOfRequest(databaseUrl: string, id: string, count: number): Promise<AuditRow[]> {
  let rows: AuditRow[] = [];
  for (let tries = 0; tries < 400; tries++) {
    rows = (await ledgerRows(databaseUrl)).filter((row) => row.call_id === id || row.parent === id);
    if (rows.length === count) return rows.toSorted((a, b) => (a.call_id < b.call_id ? -1 : 1));
    await sleep(25);
  }
  throw new Error(`${rows.length} audit rows of request ${id}, not ${count}`);
}
