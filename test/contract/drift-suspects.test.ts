import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StrandBuilder } from './ledger-rows.ts';
import { LEDGER_SUBJECTS, openHome, type OpenHome } from './ledger-subjects.ts';

describe.each(LEDGER_SUBJECTS)('calls that explain a drift, in $name', (subject) => {
  let home: OpenHome;
  beforeAll(async () => {
    home = await openHome(subject);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  // PostgreSQL holds no U+0000 in JSON values, and callers choose what stands in some fields of a row.
  test('are found where other rows have a NUL character', async () => {
    const rows = new StrandBuilder();
    const odd = rows.seal({ cost: 700n, model: 'upstream/\u0000' });
    const plain = rows.seal({ cost: 900n });
    await home.ledger.append([odd, plain]);
    for (const { callId, cost, organization } of [odd, plain]) {
      const found = await home.ledger.driftSuspects(organization, undefined, cost, 0);
      expect(found.map((suspect) => suspect.callId)).toEqual([callId]);
    }
  });
});
