import type { LinkedEntry } from '#/ports/credit.ts';
import type { Queryable } from './checkpoints.ts';
import { query, STATEMENTS } from './statements.ts';

interface ChainRow extends Omit<LinkedEntry, 'number' | 'amount' | 'sum'> {
  readonly number: bigint;
  readonly amount_nano_eur: bigint;
  readonly sum_nano_eur: bigint;
}

const PAGE = 1_000;
const TIMEOUT_MS = 60_000;

/** Every credit entry with its link, organization by organization by number, a page at a time. */
export async function* linkedEntries(db: Queryable): AsyncGenerator<LinkedEntry> {
  let organization = '';
  let number = -(2n ** 63n);
  for (;;) {
    const { rows } = await db.query<ChainRow>(query(STATEMENTS.creditChain, [organization, number, PAGE], TIMEOUT_MS));
    for (const { amount_nano_eur: amount, sum_nano_eur: sum, ...row } of rows)
      yield { ...row, number: Number(row.number), amount, sum };
    const last = rows.at(-1);
    if (!last || rows.length < PAGE) return;
    ({ organization, number } = last);
  }
}
