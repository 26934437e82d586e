import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { PostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { Checkpoint } from '#/ports/checkpoints.ts';
import type { CoveredRow } from '#/ports/evidence.ts';
import { makeProof } from '#/seal/export/proof.ts';
import { DATABASE_OPTIONS, openSource, type AuditDefaults } from './source.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const AUDIT_PROVE_HELP = `gwctl audit prove CALL_ID [--until NUMBER] [--wait SECONDS] [--out FILE] [--database-url URL | --data-dir DIR]

Writes a proof that the row of a call (x-request-id) is in the audit ledger: the full row, and the hashes that lead from it
to a signed checkpoint. gwctl audit verify FILE needs nothing else to verify it. Exits with 1 when there is no such row, or
no checkpoint covers it yet.

  --until NUMBER       Adds the checkpoints up to this one, for example one whose hash you recorded elsewhere
  --wait SECONDS       Waits this long for the next checkpoint (one is made every minute)
  --out FILE           File to write (default: standard output)
  --database-url URL   The ledger in PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The ledger of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

const CALL_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const POLL_MS = 1_000;

/** Writes a proof. Returns the exit status: 0, or 1 when there is nothing to prove yet. Throws when it cannot be read. */
export async function auditProve(
  args: readonly string[],
  defaults: AuditDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...DATABASE_OPTIONS,
      until: { type: 'string' },
      wait: { type: 'string', default: '0' },
      out: { type: 'string' },
    },
  });
  const [callId, ...more] = positionals;
  if (callId === undefined || more.length > 0) throw new UsageError('give the id of one call');
  if (!CALL_ID.test(callId)) throw new UsageError(`"${callId}" is not the id of a call`);
  const until = values.until === undefined ? undefined : whole('--until', values.until);
  const deadline = Date.now() + whole('--wait', values.wait) * 1_000;
  await using source = await openSource(values, defaults);
  let found = await coveredNow(source.ledger, callId.toLowerCase(), until);
  while (found && !found.covered && Date.now() < deadline) {
    await sleep(POLL_MS);
    found = await coveredNow(source.ledger, callId.toLowerCase(), until);
  }
  if (!found?.covered) {
    err(
      found
        ? `the call is row ${found.row.sequence} of strand ${found.row.strand}, which no checkpoint covers yet. One is made every minute: wait for it with --wait 70`
        : 'the ledger has no row of this call',
    );
    return 1;
  }
  const text = JSON.stringify(makeProof(found, found.covered, found.chain));
  if (values.out === undefined) out(text);
  else writeFileSync(values.out, `${text}\n`, { flag: 'wx', mode: 0o600 });
  return 0;
}

interface Found extends CoveredRow {
  readonly chain: readonly Checkpoint[];
}

async function coveredNow(
  ledger: PostgresLedger,
  callId: string,
  until: number | undefined,
): Promise<Found | undefined> {
  await using snapshot = await ledger.snapshot();
  const found = await snapshot.covered(callId);
  if (!found?.covered || until === undefined) return found && { ...found, chain: [] };
  const { number } = found.covered.checkpoint;
  if (until < number) throw new UsageError(`the row is covered by checkpoint ${number}, which comes after ${until}`);
  const chain: Checkpoint[] = [];
  for await (const checkpoint of ledger.checkpoints(number)) {
    if (checkpoint.number > until) break;
    chain.push(checkpoint);
  }
  if ((chain.at(-1)?.number ?? number) !== until) throw new UsageError(`there is no checkpoint ${until} yet`);
  return { ...found, chain };
}

function whole(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${option} takes a whole number`);
  return Number(text);
}
