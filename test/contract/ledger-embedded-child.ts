/**
 * Run as a process of its own by ledger-embedded.test.ts: opens the embedded ledger of the folder named by the first
 * argument, and appends batch after batch, writing a line for each that was acknowledged, until it is killed.
 */
import { openEmbeddedPostgres } from '#/adapters/pglite/embedded-postgres.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { StrandBuilder } from './ledger-rows.ts';

const database = await openEmbeddedPostgres({ dataDir: process.argv[2]! });
const ledger = await openPostgresLedger({ connectionString: database.connectionString });
const strand = new StrandBuilder();
process.stdout.write('open\n');
for (;;) {
  const rows = strand.sealMany(20);
  await ledger.append(rows);
  process.stdout.write(`${strand.strand} ${rows.at(-1)!.sequence}\n`);
}
