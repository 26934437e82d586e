import type { Ledger } from './ledger.ts';

/** The ledger at one instant: answers leave out later rows. */
export type LedgerInstant = Pick<Ledger, 'totals' | 'find'>;

/** Reads of the ledger that belong together. */
export interface LedgerBooks {
  /** Runs `work` on the ledger as it is at its first question. Rejects when the ledger cannot be read. */
  atOneInstant<T>(work: (instant: LedgerInstant) => Promise<T>): Promise<T>;
}
