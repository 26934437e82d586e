import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { PoolClient } from 'pg';
import { openPostgresCredit } from '#/adapters/postgres/credit.ts';
import { createPool } from '#/adapters/postgres/pool.ts';
import { openPostgresLedger, type PostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { makeCheckpoint } from '#/seal/checkpoints/checkpoint.ts';
import { signerAfter } from '#/seal/checkpoints/checkpointer.ts';
import { retain } from '#/seal/background/retention.ts';
import { callIdAt, StrandBuilder } from '../contract/ledger-rows.ts';
import { createDatabase, dropDatabase } from '../harness/postgres.ts';

/** A ledger of a few hundred rows with everything in it that can be tampered with. */
export interface TamperWorld extends AsyncDisposable {
  readonly ledger: PostgresLedger;
  /** A superuser's connection, with the adapter's type parsers. */
  readonly client: PoolClient;
  /** What the auditor knows: the public half of the first key. */
  readonly publicKeys: readonly KeyObject[];
}

const STRANDS = [1, 2, 3, 4].map((number) => `019aa000-0000-7000-8000-00000000000${number}`);
const ROWS_A_MONTH = 25;

/**
 * Four strands of four months, July with rows that end in August; calls sealed twice; a key that was replaced; and July
 * dropped, so that there are cuts, kept hashes and carried sums.
 */
export async function tamperWorld(server: string): Promise<TamperWorld> {
  const url = await createDatabase(server);
  const ledger = await openPostgresLedger({ connectionString: url });
  const pool = createPool({ connectionString: url });
  const client = await pool.connect();
  const oldKey = generateKeyPairSync('ed25519');
  const newKey = generateKeyPairSync('ed25519');
  await ledger.maintain(Date.UTC(2026, 6, 1));
  await ledger.maintain(Date.UTC(2026, 8, 1));
  const strands = STRANDS.map((strand) => new StrandBuilder(strand));
  let keys = [oldKey.privateKey];
  for (const month of [6, 7, 8, 9]) {
    await ledger.append(strands.flatMap((strand, index) => monthOf(strand, index, month)));
    await pay(url, month);
    if (month === 8) keys = [newKey.privateKey, ...keys];
    await checkpoint(ledger, keys, Date.UTC(2026, month + 1, 1));
    if (month !== 7) continue;
    const [again] = await duplicates(ledger, strands);
    await ledger.append(again ? [again] : []);
    await checkpoint(ledger, keys, Date.UTC(2026, month + 1, 2));
  }
  const before = '2026-08';
  const verified = await ledger.retention.plan(before);
  await retain({ store: ledger.retention, keys, before, verified, now: Date.UTC(2026, 10, 2) });
  await ledger.append(strands.map((strand) => strand.seal({ at: Date.UTC(2026, 9, 30) })));
  await checkpoint(ledger, keys, Date.UTC(2026, 10, 3));
  return {
    ledger,
    client,
    publicKeys: [oldKey.publicKey],
    [Symbol.asyncDispose]: async () => {
      client.release();
      await pool.end();
      await ledger.close();
      await dropDatabase(server, url);
    },
  };
}

/** Two organizations pay every month, one of them twice in August, in which a little is taken back too. */
async function pay(url: string, month: number): Promise<void> {
  const credit = await openPostgresCredit({ connectionString: url });
  const enter = (organization: string, amount: bigint, reference: string) =>
    credit.add({ organization, amount, reference, note: 'für "März"\n\u0001\\', actor: 'ada' });
  await enter('team/acme', 5_000_000_000n, `INV-${month}`);
  await enter('team/other', 7_000_000_000n, `INV-${month}`);
  if (month === 7) {
    await enter('team/acme', 1n, `INV-${month} more`);
    await enter('team/acme', -30n, `INV-${month} less`);
  }
  await credit.close();
}

/** In August's rows of two strands there are some of calls that began in July. */
function monthOf(strand: StrandBuilder, index: number, month: number): SealedRow[] {
  return strand.sealMany(ROWS_A_MONTH, (number) => {
    const late = month === 7 && index < 2 && (number === 1 || number === 2 || number === 5);
    const at = late ? Date.UTC(2026, 6, 31, 23, 59, number) : Date.UTC(2026, month, 2 + number);
    const organization = number % 3 === 0 ? 'team/other' : 'team/acme';
    return { at, organization, workload: number % 2 === 0 ? 'team/support' : 'team/search' };
  });
}

/** A row of the third strand for a call that the fourth has sealed already. */
async function duplicates(ledger: PostgresLedger, strands: readonly StrandBuilder[]): Promise<SealedRow[]> {
  for await (const row of ledger.rows()) {
    if (row.strand === STRANDS[3] && row.at > Date.UTC(2026, 7, 3)) {
      return [strands[2]!.seal({ callId: row.callId, at: row.at, organization: 'team/other' })];
    }
  }
  return [];
}

async function checkpoint(ledger: PostgresLedger, keys: readonly KeyObject[], at: number): Promise<void> {
  const input = await ledger.heads();
  const { signer, introduces } = signerAfter(input.last, keys);
  await ledger.saveCheckpoint(makeCheckpoint(input, at, signer, introduces && { introduces }));
}

/** A sequence of numbers that is the same for the same seed. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 up to `below`. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  /** The text with one character exchanged for another printable one. */
  character(text: string): string {
    const at = this.below(text.length);
    let code = 32 + this.below(95);
    if (text.charCodeAt(at) === code) code = code === 126 ? 32 : code + 1;
    return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1);
  }

  /** Hexadecimal text with one digit exchanged. */
  digit(hex: string): string {
    const at = this.below(hex.length);
    const digit = (Number.parseInt(hex[at]!, 16) + 1 + this.below(15)) % 16;
    return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1);
  }

  callId(): string {
    return callIdAt(Date.UTC(2026, 7 + this.below(3), 3 + this.below(20)));
  }
}
