import { parseArgs } from 'node:util';
import { openPostgresApprovals } from '#/adapters/postgres/tool-approvals.ts';
import type { ToolApproval, ToolApprovals } from '#/ports/tool-approvals.ts';
import { DECISION_HOLDS_MS } from '#/route/tool-approvals.ts';
import { countHidden, showHidden } from '#/values/hidden-characters.ts';
import { databaseOf, type DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { actorOf } from './actor.ts';

export const MCP_APPROVE_HELP = `gwctl mcp approve [ID] [--deny] [--reason TEXT] [--actor NAME] [--organization ID] [--all] [--json]

Lists the calls of tools that wait for a person to approve them, with their arguments; with ID, approves that call. The
client then sends the same call again within 15 minutes: the same tool, definition and arguments, with the same key. An
approval is used once. Arguments have tags in the place of personal data. Exits with 1 where the call does not wait.

  ID                   Id of the request, from the message that the client gets
  --deny               Denies the call instead: it is refused for 15 minutes
  --reason TEXT        Why; the client of a denied call gets it in its message
  --actor NAME         Who decides (default: USER): audit rows and the message to a denied client have it
  --all                Lists decided, used and ended requests, too, for a week
  --json               Writes one JSON object per line
  --organization ID    Only calls of this Organization, <namespace>/<name>
  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The folder of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

/** Where requests are, and who decides, when the command line does not say. */
export interface ApproveDefaults extends DatabaseDefaults {
  readonly actor: string | undefined;
}

const OPTIONS = {
  deny: { type: 'boolean', default: false },
  reason: { type: 'string' },
  actor: { type: 'string' },
  all: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  organization: { type: 'string' },
  'database-url': { type: 'string' },
  'data-dir': { type: 'string' },
} as const;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOST_REASON = 500;

/** Lists requests, or decides one. Returns the exit status: 1 where it could not be decided. Throws UsageError. */
export async function mcpApprove(
  args: readonly string[],
  defaults: ApproveDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  const [id, ...more] = positionals;
  const { deny, all, json, organization } = values;
  if (more.length > 0) throw new UsageError('give one id, or none');
  if (id !== undefined && all) throw new UsageError('--all lists requests: give no id');
  if (id === undefined && (deny || values.reason !== undefined || values.actor !== undefined))
    throw new UsageError('--deny, --reason and --actor decide a request: give its id');
  if (id !== undefined && !UUID.test(id))
    throw new UsageError('ID is that of a request, as gwctl mcp approve lists it');
  const reason = reasonOf(values.reason);
  const actor = id === undefined ? '' : actorOf(values.actor ?? defaults.actor);
  await using opened = await openApprovals(values, defaults);
  const write = (one: ToolApproval): void => {
    if (json) out(JSON.stringify(toldOf(one)));
    else for (const line of linesOf(one)) out(line);
  };
  if (id === undefined) {
    const found = await opened.store.list({ organization });
    const shown = found.filter((one) => all || standingOf(one) === 'waiting');
    if (shown.length === 0) err(all ? 'no call has needed approval lately' : 'no call waits for approval');
    shown.forEach(write);
    return 0;
  }
  const now = Date.now();
  const state = deny ? 'denied' : 'approved';
  const decided = await opened.store.decide({
    ...{ id, organization, state, reason, now },
    by: actor,
    endsAt: now + DECISION_HOLDS_MS,
  });
  if (decided) write(decided);
  else err(await whyNot(opened.store, id, organization));
  return decided ? 0 : 1;
}

async function openApprovals(
  where: { readonly 'database-url'?: string | undefined; readonly 'data-dir'?: string | undefined },
  defaults: DatabaseDefaults,
): Promise<AsyncDisposable & { store: ToolApprovals }> {
  await using opened = new AsyncDisposableStack();
  const { connectionString } = opened.use(await databaseOf(where['database-url'], where['data-dir'], defaults));
  const store = await openPostgresApprovals({ connectionString, existing: true });
  opened.defer(() => store.close());
  const kept = opened.move();
  return { store, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

function reasonOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === '' || text.length > MOST_REASON || countHidden(text) > 0 || /[\n\r\t]/.test(text))
    throw new UsageError(`--reason takes one line of at most ${MOST_REASON} characters`);
  return text;
}

async function whyNot(store: ToolApprovals, id: string, organization: string | undefined): Promise<string> {
  const [found] = await store.list({ organization, id });
  if (!found) return `there is no request ${id}: its call may have asked again. See gwctl mcp approve`;
  const standing = standingOf(found);
  const by = found.by === undefined ? '' : `, decided by ${showHidden(found.by)}`;
  return `request ${id} does not wait: it is ${standing}${by}`;
}

/** How a request stands now. */
function standingOf({ state, endsAt }: ToolApproval): string {
  return state !== 'used' && endsAt <= Date.now() ? 'expired' : state;
}

function toldOf(one: ToolApproval): object {
  const { askedAt, endsAt, decidedAt, shown, ...rest } = one;
  return {
    ...rest,
    state: standingOf(one),
    arguments: shown,
    asked_at: instant(askedAt),
    ends_at: instant(endsAt),
    decided_at: decidedAt === undefined ? null : instant(decidedAt),
  };
}

function linesOf(one: ToolApproval): readonly string[] {
  const { id, organization, workload, key, server, tool, definition, shown, askedAt, endsAt, by, reason } = one;
  const why = reason === undefined ? '' : `: ${showHidden(reason)}`;
  const hidden = countHidden(shown);
  const asker = one.person === undefined ? `key ${key}` : `person ${one.person}, key ${key}`;
  return [
    `${id}  ${standingOf(one)}${by === undefined ? '' : ` by ${showHidden(by)}${why}`}`,
    `  tool       ${showHidden(tool)} of ${server}, definition ${definition.slice(0, 12)}`,
    `  asked by   ${asker} of ${workload}, ${organization}, at ${instant(askedAt)}; ends at ${instant(endsAt)}`,
    `  arguments  ${showHidden(shown.replaceAll(/[\n\r\t]/g, ' '))}`,
    ...(hidden > 0 ? [`  characters in them that cannot be seen: ${hidden}`] : []),
  ];
}

function instant(at: number): string {
  return new Date(at).toISOString();
}
