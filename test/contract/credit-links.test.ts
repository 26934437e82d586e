import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openPostgresCredit } from '#/adapters/postgres/credit.ts';
import { openPostgresLedger } from '#/adapters/postgres/ledger.ts';
import { createCheckpointer } from '#/seal/checkpoints/checkpointer.ts';
import { verifyEvidence } from '../../src/cli/audit/verify.ts';
import { connect, LEDGER_SUBJECTS, makeSchemaUntil } from './ledger-subjects.ts';

/** As a build before entries were linked enters one. */
const OLD_ADD = `INSERT INTO credit_entries (organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor)
  SELECT $1::text, coalesce(max(number), 0) + 1, $2::bigint, coalesce(sum(amount_nano_eur), 0) + $2::bigint, $3::text, '', 'old'
  FROM credit_entries WHERE organization = $1::text
  ON CONFLICT (organization, reference) DO NOTHING`;

describe.each(LEDGER_SUBJECTS)('links of credit entries in $name', (subject) => {
  test('adopt what was there, and link what a build of before enters beside', async () => {
    const home = await subject.home();
    const old = await connect(home.url);
    await makeSchemaUntil(old, 11);
    for (const [organization, amount] of [
      ['a/x', 100],
      ['a/x', -30],
      ['b/ü "q"', 7],
    ] as const)
      await old.query(OLD_ADD, [organization, amount, `r${amount}`]);
    const ledger = await openPostgresLedger({ connectionString: home.url });
    const credit = await openPostgresCredit({ connectionString: home.url });
    const keys = generateKeyPairSync('ed25519');
    const faults: unknown[] = [];
    const checkpointer = createCheckpointer({
      store: ledger,
      keys: [keys.privateKey],
      onFault: (error) => faults.push(error),
    });
    const verified = async () => {
      await using snapshot = await ledger.snapshot();
      return await verifyEvidence(snapshot, { publicKeys: [keys.publicKey] });
    };
    try {
      expect((await verified()).credit).toEqual({
        intact: true,
        entries: 3,
        organizations: 2,
        adopted: 3,
        afterCheckpoints: 3,
        faults: [],
      });
      await old.query(OLD_ADD, ['a/x', 5, 'later']);
      await credit.add({ organization: 'a/x', amount: 6n, reference: 'new', note: '\u0007\\', actor: 'ada' });
      await checkpointer.make();
      await checkpointer.make();
      expect(faults).toEqual([]);
      const { credit: report, checkpoints } = await verified();
      expect(checkpoints).toMatchObject({ intact: true, count: 1 });
      expect(report).toMatchObject({ intact: true, entries: 5, adopted: 3, afterCheckpoints: 0 });
      expect((await credit.standings(['a/x'])).get('a/x')).toMatchObject({ number: 4, sum: 81n });
      // Whoever inserts past gwctl has its entry linked too, but cannot say a sum that the entries do not come to.
      await old.query(
        "INSERT INTO credit_entries (organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor, adopted, link) VALUES ('a/x', 5, 1, 1000000, 'x', '', 'mallory', true, decode(repeat('00', 32), 'hex'))",
      );
      expect((await verified()).credit).toMatchObject({
        intact: false,
        adopted: 3,
        faults: [{ organization: 'a/x', number: 5, kind: 'edited' }],
      });
      await expect(
        old.query(
          "INSERT INTO credit_entries (organization, number, amount_nano_eur, sum_nano_eur, reference, note, actor) VALUES ('a/x', 9, 1, 1, 'y', '', 'mallory')",
        ),
      ).rejects.toThrow(/follows from no other/);
      await expect(old.query('DELETE FROM checkpoint_credit')).rejects.toThrow(/append-only/);
    } finally {
      await old.end();
      await credit.close();
      await ledger.close();
      await home.close();
    }
  });
});
