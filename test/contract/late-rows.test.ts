import { generateKeyPairSync } from 'node:crypto';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readJournalLine } from '#/adapters/file/journal-line.ts';
import { openRowJournal } from '#/adapters/file/row-journal.ts';
import type { PostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { Settlement } from '#/ports/limit-counters.ts';
import type { JournaledRow } from '#/ports/row-journal.ts';
import { makeCheckpoint } from '#/seal/checkpoints/checkpoint.ts';
import { firstKeptMonth } from '#/seal/verify/cut.ts';
import { LedgerOutlet } from '#/seal/ledger-outlet.ts';
import { retain } from '#/seal/background/retention.ts';
import { StrandBuilder } from './ledger-rows.ts';
import { LEDGER_SUBJECTS, openHome, temporaryFolder } from './ledger-subjects.ts';

const NOW = Date.now();
const DAY = 86_400_000;
const BEFORE = firstKeptMonth(NOW, 1);
const CUT = Date.parse(`${BEFORE}-01T00:00:00Z`);
const ORGANIZATION = 'team/acme';

/** Rows of three months, of which the first is dropped. */
async function cutOff(ledger: PostgresLedger): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519');
  for (const month of [CUT - 20 * DAY, CUT, NOW]) await ledger.maintain(month);
  const strand = new StrandBuilder();
  const at = (index: number): number => (index < 10 ? CUT - 20 * DAY : index < 20 ? CUT + DAY : NOW);
  await ledger.append(strand.sealMany(30, (index) => ({ at: at(index), organization: ORGANIZATION })));
  await ledger.saveCheckpoint(makeCheckpoint(await ledger.heads(), NOW, privateKey));
  const verified = await ledger.retention.plan(BEFORE);
  await retain({ store: ledger.retention, keys: [privateKey], before: BEFORE, verified, now: NOW });
}

function journaled(count: number, at: number): JournaledRow[] {
  return new StrandBuilder()
    .sealMany(count, () => ({ at, organization: ORGANIZATION, cost: 7n }))
    .map((row) => ({
      row,
      settlement: { callId: row.callId, organization: ORGANIZATION, cost: row.cost, tokens: 0 },
    }));
}

describe.each(LEDGER_SUBJECTS)('after a cut, in $name', (subject) => {
  test('the check of usage is right, also when rows of before the cut come late', async () => {
    await using home = await openHome(subject);
    await cutOff(home.ledger);
    expect(await home.ledger.usageDifferences()).toEqual([]);
    await home.ledger.append(journaled(2, CUT - 20 * DAY).map(({ row }) => row));
    expect(await home.ledger.usageDifferences()).toEqual([]);
    expect(await home.ledger.spendDifferences()).toEqual([]);
    // Of what is left, not a unit may be off.
    await home.client.query('UPDATE audit_usage SET input_tokens = input_tokens + 1 WHERE quarter >= $1', [
      new Date(CUT).toISOString(),
    ]);
    expect(await home.ledger.usageDifferences()).not.toEqual([]);
  });

  test('rows that a dead process left are taken, but for those of before it: these are kept beside, and told', async () => {
    await using home = await openHome(subject);
    await cutOff(home.ledger);
    const folder = await temporaryFolder();
    const options = { folder, maxBytes: 1e9, onDamage: () => expect.unreachable() };
    const old = journaled(3, CUT - 20 * DAY);
    const young = journaled(2, CUT + DAY);
    const dead = await openRowJournal(options);
    await dead.write([...old.slice(0, 2), ...young, ...old.slice(2)]);
    await dead.close();
    const spent = (await home.ledger.totals(ORGANIZATION, 'UTC', NOW, [])).organization.total;
    const journal = await openRowJournal(options);
    const settled: Settlement[] = [];
    const refused: number[] = [];
    const outlet = new LedgerOutlet({
      ledger: home.ledger,
      journal,
      settling: { settleWritten: (settlements) => void settled.push(...settlements) },
      onFault: () => expect.unreachable(),
      onJournalFault: () => expect.unreachable(),
      onReplay: () => {},
      onRefused: (rows) => refused.push(rows),
    });
    try {
      await outlet.recover();
      expect(refused).toEqual([3]);
      expect(settled.map(({ callId }) => callId)).toEqual(young.map(({ row }) => row.callId));
      expect((await home.ledger.totals(ORGANIZATION, 'UTC', NOW, [])).organization.total).toBe(spent + 14n);
      const kept = (await readdir(folder)).filter((file) => !file.endsWith('.sock'));
      expect(kept).toEqual([expect.stringMatching(/\.journal\.refused$/)]);
      const lines = (await readFile(join(folder, kept[0]!), 'utf8')).split('\n').slice(0, -1);
      expect(lines.map(readJournalLine)).toEqual(old);
      // It is nobody's to take up again.
      await outlet.recover();
      expect(refused).toEqual([3]);
    } finally {
      await journal.close();
      await rm(folder, { recursive: true, force: true });
    }
  });
});
