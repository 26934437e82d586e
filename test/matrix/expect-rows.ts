import { ledgerRows } from '../harness/ledger-rows.ts';
import type { AuditRow } from '#/seal/row.ts';
import { familyOf, refusalOf, type Cell } from './cell.ts';
import { lossesOf } from './losses.ts';
import { COUNTS } from './stand-in/usage.ts';

type Ended = Pick<AuditRow, 'outcome' | 'status' | 'code'>;

/** What `COUNTS` cost in nano-euro, at 2 euro a million tokens in, 8 out and 1 from a cache. */
const COST = String(COUNTS.fresh * 2000 + COUNTS.output * 8000 + COUNTS.cached * 1000);

/** Audit rows that the cells should have left, compared with the ledger in one go. */
export class RowBook {
  readonly #expected: { readonly cell: Cell; readonly callId: string; readonly row: object }[] = [];
  readonly #hungUp: Cell[] = [];

  /** The row of a call whose answer has come, or begun to. */
  expect(answer: Response, cell: Cell, ended: Ended): void {
    this.#expected.push({ cell, callId: answer.headers.get('x-request-id') ?? '', row: rowOf(cell, ended) });
  }

  /** The row of a call that nobody heard back from: its id was never told. */
  expectHungUp(cell: Cell): void {
    this.#hungUp.push(cell);
  }

  /** What the ledger says that was not expected, one line each. */
  async differences(databaseUrl: string): Promise<string[]> {
    const found = await ledgerRows(databaseUrl, this.#expected.length + this.#hungUp.length);
    const byId = new Map(found.map((row) => [row.call_id, row]));
    const differences: string[] = [];
    for (const { cell, callId, row } of this.#expected) {
      const actual = byId.get(callId);
      byId.delete(callId);
      const difference = actual ? differenceOf(row, actual) : 'has no row';
      if (difference !== undefined) differences.push(`${cell.name}: ${difference}`);
    }
    return [...differences, ...this.#hungUpDifferences([...byId.values()])];
  }

  /** These rows tell apart only where the call went to. */
  #hungUpDifferences(rows: readonly AuditRow[]): string[] {
    const keyOf = ({ provider, surface, stream, outcome, status }: AuditRow): string =>
      [provider, surface, stream, outcome, status].join(' ');
    const actual = rows.map(keyOf).sort();
    const expected = this.#hungUp
      .map(({ kind, surface }) => [kind.name, surface.name, false, 'hung_up', 499].join(' '))
      .sort();
    if (actual.join() === expected.join()) return [];
    const strange = actual.filter((key) => !expected.includes(key));
    return [`${actual.length} rows of unheard calls instead of ${expected.length}: ${strange.join(', ')}`];
  }
}

function rowOf(cell: Cell, ended: Ended): object {
  const { kind, surface, stream, one } = cell;
  const asked = { surface: surface.name, stream, model: `${kind.name}/${kind.model}` };
  if (refusalOf(cell)) return { ...ended, ...asked, provider: null, usage: null };
  const isSilent = stream && familyOf(cell) === 'chat' && kind.usage === 'silent';
  const isTold = ended.outcome === 'served' && !isSilent;
  return {
    ...ended,
    ...asked,
    provider: kind.name,
    provider_model: kind.model,
    wire_format: familyOf(cell),
    losses: lossesOf(cell),
    ...(ended.outcome === 'served' && { usage_source: isTold ? 'provider' : 'estimated' }),
    ...(isTold && { counts: COUNTS, cost_nano_eur: COST }),
    ...(one.ending === 'hang-up' && { usage_source: 'estimated' }),
  };
}

function differenceOf(expected: object, actual: AuditRow): string | undefined {
  const { usage } = actual;
  const counts = usage && { fresh: usage.input, cached: usage.cacheRead, output: usage.output + usage.reasoning };
  const found: Readonly<Record<string, unknown>> = { ...actual, losses: [...actual.losses].sort(), counts };
  const wrong = Object.entries(expected).flatMap(([name, value]) =>
    JSON.stringify(found[name]) === JSON.stringify(value)
      ? []
      : [`${name} is ${JSON.stringify(found[name])}, not ${JSON.stringify(value)}`],
  );
  return wrong.length === 0 ? undefined : wrong.join('; ');
}
