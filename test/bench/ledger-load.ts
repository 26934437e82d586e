import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { canonicalRow } from '#/seal/row-text.ts';
import { genesis, link } from '#/seal/chain.ts';
import type { AuditRow, Outcome } from '#/seal/row.ts';

/** What is loaded: rows spread evenly over a time, written by some gateways at once, which are replaced every month. */
export interface LoadPlan {
  readonly rows: number;
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly until: number;
}

const GATEWAYS = 8;
const CHUNK = 50_000;
const MODELS = [
  ['openai', 'gpt-4o'],
  ['openai', 'gpt-4o-mini'],
  ['openai', 'text-embedding-3-small'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['anthropic', 'claude-haiku-4-5'],
  ['gemini', 'gemini-2.5-flash'],
  ['gemini', 'gemini-2.5-pro'],
  ['mistral', 'mistral-large-latest'],
  ['bedrock', 'anthropic.claude-sonnet-4-5'],
  ['azure', 'gpt-4o'],
] as const;
/** Four calls of five are of one organization. */
export const LARGE_ORGANIZATION = 'production/acme';
const WORKLOADS = 20;

const MEASURES = `count(*),
  count(*) FILTER (WHERE outcome = 'refused'), count(*) FILTER (WHERE outcome = 'failed'),
  count(*) FILTER (WHERE outcome = 'hung_up'), count(*) FILTER (WHERE outcome = 'abandoned'),
  count(*) FILTER (WHERE cached), sum(input), sum(cache_read), sum(cache_write_5m), sum(cache_write_1h),
  sum(output), sum(reasoning), sum(cost_nano_eur)`;
const NO_STRAND = "'00000000-0000-0000-0000-000000000000'::uuid";

/** What is made anew after the rows are in: faster than row by row, and the same in the end. */
const INDEXES = [
  ['ALTER TABLE audit_rows DROP CONSTRAINT audit_rows_pkey', 'ALTER TABLE audit_rows ADD PRIMARY KEY (call_id)'],
  ['DROP INDEX audit_rows_chain', 'CREATE INDEX audit_rows_chain ON audit_rows (strand, sequence)'],
  ['DROP INDEX audit_rows_organization', 'CREATE INDEX audit_rows_organization ON audit_rows (organization, at)'],
] as const;

/**
 * Fills an empty ledger of a server on this machine, as its superuser: rows linked into strands, and all that is kept
 * beside them as it is once it was folded. The same figures every time. `told` hears how far it is.
 */
export async function loadLedger(
  client: Client,
  plan: LoadPlan,
  told: (rows: number) => void = () => {},
): Promise<void> {
  await client.query('ALTER TABLE audit_rows DISABLE TRIGGER count_usage');
  for (const [drop] of INDEXES) await client.query(drop);
  await copyRows(client, plan, told);
  for (const [, create] of INDEXES) await client.query(create);
  await client.query(`INSERT INTO audit_usage
    SELECT organization, date_bin('15 minutes', at, 'epoch'), workload, provider, model, ${NO_STRAND}, ${MEASURES}
    FROM audit_rows, row_facts(row_text, false)
    GROUP BY 1, 2, 3, 4, 5`);
  const columns = (await client.query('SELECT * FROM audit_usage LIMIT 0')).fields.map(({ name }) => name).slice(6);
  const sums = columns.map((column) => `sum(${column})`).join(', ');
  await client.query(`INSERT INTO audit_usage_days
    SELECT organization, date_trunc('day', quarter, 'UTC'), workload, provider, model, ${sums}
    FROM audit_usage GROUP BY 1, 2, 3, 4, 5`);
  await client.query(`INSERT INTO audit_usage_edges
    SELECT organization, edge, workload, provider, model, ${sums}
    FROM audit_usage, edges_over(quarter) GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`);
  await client.query(`INSERT INTO audit_spend
    SELECT organization, workload, ${NO_STRAND}, quarter, sum(cost_nano_eur), sum(calls)
    FROM audit_usage GROUP BY 1, 2, 4`);
  await client.query('ALTER TABLE audit_rows ENABLE TRIGGER count_usage');
  await client.query('VACUUM ANALYZE audit_usage, audit_usage_days, audit_usage_edges, audit_spend');
  await client.query('ANALYZE audit_rows');
}

/** A chunk is made while the server takes the one before. */
async function copyRows(client: Client, plan: LoadPlan, told: (rows: number) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-load-'));
  chmodSync(folder, 0o755);
  const random = randomNumbers(plan.rows);
  let strands: LoadStrand[] = [];
  let month = -1;
  let copying: Promise<unknown> = Promise.resolve();
  try {
    for (let done = 0; done < plan.rows; done += CHUNK) {
      const lines: string[] = [];
      for (let index = done; index < Math.min(done + CHUNK, plan.rows); index++) {
        const at = Math.floor(plan.from + ((plan.until - plan.from) * index) / plan.rows);
        if (index % 1000 === 0 && new Date(at).getUTCMonth() !== month) {
          month = new Date(at).getUTCMonth();
          strands = Array.from({ length: GATEWAYS }, () => new LoadStrand());
        }
        lines.push(strands[index % GATEWAYS]!.line(at, random));
      }
      const file = join(folder, `rows-${done}`);
      writeFileSync(file, lines.join(''), { mode: 0o644 });
      await copying;
      copying = client
        .query(
          `COPY audit_rows (call_id, strand, sequence, at, organization, workload, cost_nano_eur, row_text, link) FROM '${file}'`,
        )
        .finally(() => rmSync(file));
      // Awaited with the next chunk.
      copying.catch(() => {});
      told(done + lines.length);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await copying;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

class LoadStrand {
  readonly #strand = randomUUID();
  #sequence = 0;
  #link = genesis(this.#strand);

  /** The next row, as a line of COPY's text format. */
  line(at: number, random: () => number): string {
    const row = loadedRow(at, random, this.#strand, ++this.#sequence);
    const text = canonicalRow(row);
    this.#link = link(this.#link, text);
    const columns = [row.call_id, row.strand, row.sequence, row.at, row.organization, row.workload, row.cost_nano_eur];
    return `${columns.join('\t')}\t${text.replaceAll('\\', '\\\\')}\t\\\\x${this.#link}\n`;
  }
}

function loadedRow(at: number, random: () => number, strand: string, sequence: number): AuditRow {
  const [provider, model] = MODELS[Math.floor(random() * random() * MODELS.length)]!;
  const workload = `production/app-${Math.floor(random() * WORKLOADS)}`;
  const organization = random() < 0.8 ? LARGE_ORGANIZATION : `production/other-${Math.floor(random() * 5)}`;
  const dice = random();
  const outcome: Outcome = dice < 0.9 ? 'served' : dice < 0.95 ? 'refused' : dice < 0.98 ? 'failed' : 'hung_up';
  const asked = outcome !== 'refused';
  const cached = outcome === 'served' && dice < 0.03;
  const used = asked && outcome !== 'failed' && !cached;
  const usage = {
    cacheRead: Math.floor(random() * 2) * 1024,
    cacheWrite1h: 0,
    cacheWrite5m: 0,
    input: Math.floor(random() * 4000),
    output: Math.floor(random() * 900),
    reasoning: 0,
  };
  const time = at.toString(16).padStart(12, '0');
  const duration = Math.floor(300 + random() * 4000);
  return {
    attempts: asked && !cached ? [{ duration_ms: duration, model, provider, status: 200 }] : [],
    at: new Date(at).toISOString(),
    cache_hit: cached ? 'exact' : 'none',
    call_id: `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`,
    code: outcome === 'refused' ? 'insufficient_quota' : outcome === 'failed' ? 'upstream_error' : null,
    config_revision: 'f3a1c0de'.repeat(8),
    cost_nano_eur: used ? String(usage.input * 2300 + usage.output * 9200) : '0',
    dlp: { findings: random() < 0.3 ? { EMAIL: 2, IBAN: 1 } : {}, mode: 'tokenize', unscanned: [] },
    duration_ms: duration + 3,
    held_nano_eur: asked ? '150000000' : '0',
    jurisdiction: asked ? 'EU' : null,
    key: `${workload}-key`,
    losses: [],
    model: `${provider}/${model}`,
    organization,
    outcome,
    price: used ? 'genai-prices' : null,
    provider: asked ? provider : null,
    provider_model: asked ? model : null,
    provider_response_id: used ? `chatcmpl-${sequence}` : null,
    reason: outcome === 'refused' ? 'The monthly budget of the workload "app" is used up.' : null,
    route: [`${provider}/${model}: pinned by the caller`],
    sequence,
    status: outcome === 'refused' ? 402 : 200,
    step: asked ? null : 'meter',
    strand,
    stream: random() < 0.5,
    surface: 'chat',
    usage: used ? usage : null,
    usage_source: used ? 'provider' : null,
    v: 1,
    wire_format: 'chat',
    workload,
  };
}

/** Numbers from 0 to below 1, the same for the same seed (xorshift). */
function randomNumbers(seed: number): () => number {
  let state = (seed | 1) >>> 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
