import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Ledger, SealedRow } from '#/ports/ledger.ts';
import { endedRow } from './ended-row.ts';
import { createLedgerWriter, type LedgerWriter, type RowDraft } from './ledger-writer.ts';

function draft(): RowDraft {
  const call = {
    id: randomUUID(),
    startedAt: 1,
    organization: 'o',
    workload: 'w',
    key: 'k',
    revision: 'r',
    mode: 'Mask',
  };
  return endedRow({ ...call, surface: 'chat', model: 'p/m', error: undefined }, 2);
}

/** A writer whose ledger answers when it is told to. */
function slowWriter(): {
  readonly writer: LedgerWriter;
  readonly batches: SealedRow[][];
  /** Resolves when the ledger is given a batch; it answers when the returned function is called. */
  readonly next: () => Promise<() => void>;
} {
  const batches: SealedRow[][] = [];
  let arrived = Promise.withResolvers<() => void>();
  const append = (rows: readonly SealedRow[]): Promise<void> => {
    batches.push([...rows]);
    const answer = Promise.withResolvers<void>();
    const told = arrived;
    arrived = Promise.withResolvers();
    told.resolve(answer.resolve);
    return answer.promise;
  };
  const nothing = (): void => {};
  const writer = createLedgerWriter({
    ledger: { append } as unknown as Ledger,
    strand: randomUUID(),
    fence: { fresh: () => true, reclaim: async (drafts) => drafts, settleWritten: nothing },
    onDropped: nothing,
    onFault: nothing,
    onJournalFault: nothing,
    onReplay: nothing,
    onRefused: nothing,
  });
  return { writer, batches, next: () => arrived.promise };
}

test('rows that come while a batch is written wait for those of the next moments', async () => {
  const { writer, batches, next } = slowWriter();
  const first = next();
  writer.enqueue(draft());
  const answer = await first;
  writer.enqueue(draft());
  const second = next();
  answer();
  // Were the batch before followed by what is there already, this one would come too late for it.
  await new Promise((resolve) => setImmediate(resolve));
  writer.enqueue(draft());
  (await second)();
  expect(await writer.drain(10_000)).toBe(true);
  expect(batches.map((batch) => batch.map(({ sequence }) => sequence))).toEqual([[1], [2, 3]]);
});

test('full batches follow one another, in order, and what is left comes too', async () => {
  const { writer, batches, next } = slowWriter();
  let arrived = next();
  for (let row = 0; row < 1203; row++) writer.enqueue(draft());
  for (let batch = 0; batch < 3; batch++) {
    const answer = await arrived;
    arrived = next();
    answer();
  }
  expect(await writer.drain(10_000)).toBe(true);
  expect(batches.map((batch) => batch.length)).toEqual([500, 500, 203]);
  expect(batches.flat().map(({ sequence }) => sequence)).toEqual(Array.from({ length: 1203 }, (_, index) => index + 1));
});
