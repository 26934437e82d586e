import type {
  ApprovalDecision,
  AskedApproval,
  FoundApproval,
  MostWaiting,
  ToolApproval,
  ToolApprovals,
} from '#/ports/tool-approvals.ts';
import { openStore, type StoreOptions } from './migrate.ts';
import type { Connections } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';

/** Requests for approval in PostgreSQL. */
export interface PostgresApprovals extends ToolApprovals {
  close(): Promise<void>;
}

/** Calls wait for it. */
const TIMEOUT_MS = 2000;
const LIST_TIMEOUT_MS = 10_000;
/** Connections apart from the ledger's, so that neither has to wait for the other. */
const CONNECTIONS = 1;
/** A request that another gateway has just entered is seen when it is asked for again. */
const MOST_TRIES = 2;

/** Opens the store and brings its schema up to date. Rejects when the database cannot be reached. */
export async function openPostgresApprovals(options: StoreOptions): Promise<PostgresApprovals> {
  const { connections: pool, close } = await openStore(options, CONNECTIONS);
  return {
    ask: (asked, most) => ask(pool, asked, most),
    async use(id, now) {
      const { rows } = await pool.query(query(STATEMENTS.useApproval, [id, at(now)], TIMEOUT_MS));
      return rows.length > 0;
    },
    decide: (decision) => decide(pool, decision),
    async list({ organization, id }) {
      const values = [organization ?? null, id ?? null];
      const { rows } = await pool.query<ApprovalRow>(query(STATEMENTS.listApprovals, values, LIST_TIMEOUT_MS));
      return rows.map(toApproval);
    },
    async expire(before) {
      const { rows } = await pool.query(query(STATEMENTS.expireApprovals, [at(before)], LIST_TIMEOUT_MS));
      return rows.length;
    },
    close,
  };
}

/** The instants are milliseconds since the epoch, as decimal texts. */
interface ApprovalRow extends Pick<
  ToolApproval,
  'id' | 'organization' | 'workload' | 'server' | 'tool' | 'definition' | 'shown' | 'state'
> {
  readonly virtual_key: string;
  readonly person: string | null;
  readonly asked_at: string;
  readonly ends_at: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly decided_at: string | null;
}

type FoundRow = ApprovalRow & { readonly is_new: boolean; readonly follows_expired: boolean };

async function ask(pool: Connections, asked: AskedApproval, most: MostWaiting): Promise<FoundApproval | undefined> {
  const { binding, id, organization, workload, key, server, tool, definition, shown, askedAt, endsAt } = asked;
  const values = [
    ...[binding, id, organization, workload, key, server, tool, definition, shown],
    ...[at(askedAt), at(endsAt), most.ofWorkload, most.ofCaller, asked.person ?? null],
  ];
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const { rows } = await pool.query<FoundRow>(query(STATEMENTS.askApproval, values, TIMEOUT_MS));
    const [row] = rows;
    if (row) return { ...toApproval(row), isNew: row.is_new, followsExpired: row.follows_expired };
  }
  return undefined;
}

async function decide(pool: Connections, decision: ApprovalDecision): Promise<ToolApproval | undefined> {
  const { id, organization, state, by, reason, now, endsAt } = decision;
  const values = [id, organization ?? null, state, by, reason ?? null, at(now), at(endsAt)];
  const { rows } = await pool.query<ApprovalRow>(query(STATEMENTS.decideApproval, values, LIST_TIMEOUT_MS));
  return rows[0] && toApproval(rows[0]);
}

function toApproval(row: ApprovalRow): ToolApproval {
  const { id, organization, workload, server, tool, definition, shown, state, actor, reason } = row;
  return {
    ...{ id, organization, workload, server, tool, definition, shown, state },
    key: row.virtual_key,
    ...(row.person !== null && { person: row.person }),
    askedAt: Number(row.asked_at),
    endsAt: Number(row.ends_at),
    ...(actor !== null && { by: actor }),
    ...(reason !== null && { reason }),
    ...(row.decided_at !== null && { decidedAt: Number(row.decided_at) }),
  };
}

function at(instant: number): string {
  return new Date(instant).toISOString();
}
