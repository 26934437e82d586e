import { randomUUID } from 'node:crypto';
import { canonicalRow } from '#/seal/row-text.ts';
import { genesis, link } from '#/seal/chain.ts';
import type { AuditRow } from '#/seal/row.ts';
import type { VerifyReport } from '#/seal/verify/report.ts';
import { verify } from '#/seal/verify/ledger-check.ts';
import type { PostgresLedger } from '#/adapters/postgres/ledger.ts';
import type { StoredRow, StoredRows } from '#/ports/evidence.ts';
import type { SealedRow } from '#/ports/ledger.ts';

export interface RowFields {
  readonly callId?: string;
  readonly at?: number;
  readonly organization?: string;
  readonly workload?: string;
  readonly cost?: bigint;
  readonly model?: string;
}

/** Seals rows as a gateway process does, one after the other into its own strand. */
export class StrandBuilder {
  readonly strand: string;
  #sequence = 0;
  #link: string;

  constructor(strand: string = randomUUID()) {
    this.strand = strand;
    this.#link = genesis(strand);
  }

  seal(fields: RowFields = {}): SealedRow {
    const sequence = ++this.#sequence;
    const { at = Date.UTC(2026, 10, 21, 9) + sequence, organization = 'team/acme', workload = 'team/support' } = fields;
    const { callId = callIdAt(at), cost = BigInt(sequence) * 1_000n } = fields;
    const row = canonicalRow({
      ...TEMPLATE,
      at: new Date(at).toISOString(),
      call_id: callId,
      cost_nano_eur: cost.toString(),
      model: fields.model ?? TEMPLATE.model,
      organization,
      sequence,
      strand: this.strand,
      workload,
    });
    this.#link = link(this.#link, row);
    return { strand: this.strand, sequence, callId, at, organization, workload, cost, row, link: this.#link };
  }

  sealMany(count: number, fields: (index: number) => RowFields = () => ({})): SealedRow[] {
    return Array.from({ length: count }, (_, index) => this.seal(fields(index)));
  }
}

/** A UUIDv7 of that instant. */
export function callIdAt(at: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/**
 * Rows as a database keeps them that lie in the order given. `scans`: whether they are handed over as they lie; else as an
 * embedded database does.
 */
export function storedRows(rows: readonly SealedRow[], scans = true): StoredRows {
  const stored = rows.map(storedRow);
  const ordered = stored.toSorted((a, b) =>
    a.strand < b.strand ? -1 : a.strand > b.strand ? 1 : a.sequence - b.sequence,
  );
  const [once, repeated] = [new Set<string>(), new Set<string>()];
  for (const { callId, superseded } of rows) if (!superseded) (once.has(callId) ? repeated : once).add(callId);
  return {
    scan: async (each) => {
      if (scans) for (const row of stored) each(row);
      return scans;
    },
    inOrder: (strand) => stream([strand === undefined ? ordered : ordered.filter((row) => row.strand === strand)]),
    repeatedCalls: async () => [...repeated],
  };
}

/** Verifies the rows of a ledger as they are now. */
export async function verifyLedger({ snapshot }: Pick<PostgresLedger, 'snapshot'>): Promise<VerifyReport> {
  await using instant = await snapshot();
  return await verify(instant.rows);
}

/** A row in bytes. */
export function storedRow(row: SealedRow): StoredRow {
  const stored: StoredRow = {
    strand: row.strand,
    sequence: row.sequence,
    callId: Buffer.from(row.callId.replaceAll('-', ''), 'hex'),
    at: row.at,
    organization: row.organization,
    workload: row.workload,
    cost: row.cost.toString(),
    text: Buffer.from(row.row),
    link: Buffer.from(row.link, 'hex'),
    superseded: row.superseded ?? false,
    sealed: () => row,
    kept: () => stored,
  };
  return stored;
}

/** A row's text with members replaced, canonical still. */
export function editText(text: string, changes: Readonly<Record<string, unknown>>): string {
  return canonicalRow({ ...(JSON.parse(text) as AuditRow), ...changes });
}

export async function* stream<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values;
}

export async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

const TEMPLATE: AuditRow = {
  attempts: [{ provider: 'openai', model: 'gpt-4o', status: 200, duration_ms: 412 }],
  at: '',
  cache_hit: 'none',
  call_id: '',
  code: null,
  config_revision: 'a'.repeat(64),
  cost_nano_eur: '0',
  dlp: { findings: { IBAN: 1, EMAIL: 2 }, mode: 'tokenize', unscanned: [] },
  duration_ms: 415,
  held_nano_eur: '1000000',
  jurisdiction: 'EU',
  key: 'team/production',
  losses: [],
  model: 'openai/gpt-4o',
  organization: '',
  outcome: 'served',
  price: 'genai-prices',
  provider: 'openai',
  provider_model: 'gpt-4o',
  provider_response_id: 'chatcmpl-1',
  reason: null,
  sequence: 0,
  status: 200,
  step: null,
  strand: '',
  stream: false,
  surface: 'chat',
  usage: { input: 100, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 200, reasoning: 0 },
  usage_source: 'provider',
  v: 1,
  wire_format: 'chat',
  workload: '',
};
