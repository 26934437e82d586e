import { generateKeyPairSync } from 'node:crypto';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { makeCheckpoint } from '#/seal/checkpoints/checkpoint.ts';
import { exportLines } from '#/seal/export/export-lines.ts';
import { makeProof, verifyProof, type Proof } from '#/seal/export/proof.ts';
import { verifyExport } from '#/seal/verify/export-check.ts';
import { StrandBuilder } from '../contract/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { law, type PureTarget } from './pure-target.ts';

/** What an auditor is handed, made by a real ledger. */
interface Evidence {
  readonly lines: readonly string[];
  readonly proof: string;
  readonly trust: { readonly publicKeys: readonly ReturnType<typeof generateKeyPairSync>['publicKey'][] };
}

/** Exports and proofs: whatever is changed in them, they are either the same or said to be changed, never both. */
export async function evidenceTargets(databaseUrl: string): Promise<readonly PureTarget[]> {
  const { lines, proof, trust } = await makeEvidence(databaseUrl);
  const original = lines.join('\n');
  return [
    {
      name: 'exports',
      corpus: async () => [Buffer.from(original)],
      async run(data) {
        const text = data.toString('utf8');
        const report = await verifyExport(linesOf(text), trust);
        law(!report.intact || text.trimEnd() === original, 'a changed export is said to be intact');
      },
    },
    {
      name: 'proofs',
      corpus: async () => [Buffer.from(proof)],
      run(data) {
        const parsed = parse(data.toString('utf8'));
        if (parsed === undefined) return;
        const { intact } = verifyProof(parsed as Proof, trust.publicKeys);
        const { row, call_id } = JSON.parse(proof) as Proof;
        const shown = parsed as Partial<Proof>;
        law(!intact || (shown.row === row && shown.call_id === call_id), 'a proof of another row is said to hold');
      },
    },
  ];
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

async function* linesOf(text: string): AsyncGenerator<string> {
  yield* text.trimEnd().split('\n');
}

async function makeEvidence(server: string): Promise<Evidence> {
  const ledger = await openPostgresLedger({ connectionString: await createDatabase(server) });
  try {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const strands = [new StrandBuilder(), new StrandBuilder()];
    const at = Date.UTC(2026, 10, 21, 12);
    await ledger.maintain(at);
    const rows = strands.flatMap((strand) =>
      strand.sealMany(12, (index) => ({ at: at + index, organization: index % 2 === 0 ? 'team/acme' : 'team/other' })),
    );
    await ledger.append(rows);
    await ledger.saveCheckpoint(makeCheckpoint(await ledger.heads(), at + 1_000, privateKey));
    await using snapshot = await ledger.snapshot();
    const lines: string[] = [];
    for await (const line of exportLines(snapshot, 'team/acme', at)) lines.push(line.trimEnd());
    const callId = rows[4]?.callId ?? '';
    const found = await snapshot.covered(callId);
    if (!found?.covered) throw new Error('the checkpoint covers no row');
    return { lines, proof: JSON.stringify(makeProof(found, found.covered, [])), trust: { publicKeys: [publicKey] } };
  } finally {
    await ledger.close();
  }
}
