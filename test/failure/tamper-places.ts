import type { PoolClient } from 'pg';
import type { Findings } from '../../src/cli/audit/report.ts';
import type { Chance } from './tamper-world.ts';

/** Where a change was made: whoever looks for it has to be led to one of these places. */
export type Place =
  | { readonly strand: string; readonly sequence: number }
  | { readonly checkpoint: number }
  | { readonly workload: string }
  | { readonly organization: string; readonly entry: number };

/** Makes one change in the open transaction. Undefined where chance chose one that changes nothing. */
export type Change = (db: PoolClient, chance: Chance) => Promise<readonly Place[] | undefined>;

/** The rows of a query. */
export async function all<T extends object>(
  db: PoolClient,
  sql: string,
  values: readonly unknown[] = [],
): Promise<T[]> {
  return (await db.query<T>(sql, [...values])).rows;
}

/** The place of a row, or of one so many after it. */
export const placeOf = (
  { strand, sequence }: { readonly strand: string; readonly sequence: bigint },
  by = 0,
): Place => {
  return { strand, sequence: Number(sequence) + by };
};

/** A parameter of bytes. */
export const hex = (text: string): Buffer => Buffer.from(text, 'hex');

/** Whether a report leads to one of the places. */
export function locates({ rows, checkpoints, sums, credit }: Findings, places: readonly Place[]): boolean {
  return places.some((place) => {
    if ('checkpoint' in place) return checkpoints.fault?.number === place.checkpoint;
    if ('workload' in place) return sums.some(({ workload }) => workload === place.workload);
    if ('entry' in place)
      return credit?.faults.some(
        ({ organization, number, kind }) =>
          organization === place.organization &&
          (number === place.entry || (kind === 'rewritten' && number < place.entry)),
      );
    return rows.faults.some(
      ({ strand, sequence, missing }) =>
        strand === place.strand &&
        place.sequence >= (missing?.from ?? sequence) &&
        place.sequence <= (missing?.to ?? sequence),
    );
  });
}
