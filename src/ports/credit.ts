import type { NanoEuro } from '#/values/money.ts';
import type { Credit } from './limit-counters.ts';

/** Money paid in, or taken back by a correction. Never changed once it is there. */
export interface CreditEntry {
  readonly organization: string;
  /** Negative for a correction; never zero. */
  readonly amount: NanoEuro;
  /** What it is known by outside, such as the number of an invoice: one entry an organization for each. */
  readonly reference: string;
  readonly note: string;
  /** Who entered it. */
  readonly actor: string;
}

/** An entry in its place. */
export interface NumberedEntry extends CreditEntry {
  /** From 1 without gaps, by organization. */
  readonly number: number;
  /** Of all entries up to this one. */
  readonly sum: NanoEuro;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** An entry as it is stored, linked to the one before it. */
export interface LinkedEntry extends Omit<NumberedEntry, 'at'> {
  /** RFC 3339 in UTC, with microseconds. */
  readonly at: string;
  readonly salt: string;
  /** It was there before entries were linked: nothing tells what it said until then. */
  readonly adopted: boolean;
  /** 32 bytes as hex: SHA-256(link of the entry before || SHA-256(text)). */
  readonly link: string;
}

/** How an organization stands. */
export interface CreditStanding extends Credit {
  /** The last payment; the rest is measured by it. */
  readonly lastTopUp?: Pick<NumberedEntry, 'number' | 'amount' | 'at'>;
}

/** The entries of all organizations: append-only. */
export interface CreditEntries {
  /**
   * Enters money once: an entry of the same reference is left as it is, and returned with `added` false. Rejects with
   * `CreditConflict` when that one says another amount.
   */
  add(entry: CreditEntry): Promise<{ readonly entry: NumberedEntry; readonly added: boolean }>;
  /** In the order of their numbers. */
  list(organization: string): Promise<readonly NumberedEntry[]>;
  /** Of those of these organizations that have entries. */
  standings(organizations: readonly string[]): Promise<ReadonlyMap<string, CreditStanding>>;
}

/** The counters' side: the sum that holds are checked against. */
export interface CreditCounters {
  /** Stores a sum; an older one, and one of an organization without counters, changes nothing. */
  putCredit(organization: string, credit: Credit): Promise<void>;
}

/** The reference stands for another amount already. */
export class CreditConflict extends Error {
  override readonly name = 'CreditConflict';
}
