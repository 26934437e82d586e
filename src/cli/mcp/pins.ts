import { openPostgresPins } from '#/adapters/postgres/tool-pins.ts';
import { readPinnedList, type PinnedServer, type ServerPins, type ToolPin, type ToolPins } from '#/ports/tool-pins.ts';
import { showHidden } from '#/values/hidden-characters.ts';
import { databaseOf, type DatabaseDefaults } from '../stores/database.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** What every command on pins takes. */
export const PIN_OPTIONS = {
  organization: { type: 'string' },
  list: { type: 'string' },
  'database-url': { type: 'string' },
  'data-dir': { type: 'string' },
} as const;

export const PIN_DATABASE_HELP = `\
  --database-url URL   The gateway's PostgreSQL (default: DATABASE_URL)
  --data-dir DIR       The folder of an embedded gateway, running or stopped (default: GW_DATA_DIR, or .data)
`;

export const PIN_OPTIONS_HELP = `  --organization ID    <namespace>/<name> of the Organization; needed where several use the server
  --list LIST          tools (the default), prompts or instructions of the server
${PIN_DATABASE_HELP}`;

const PINNED_LISTS: ReadonlySet<string> = new Set(['tools', 'prompts', 'instructions']);

interface Where {
  readonly list?: string | undefined;
  readonly organization?: string | undefined;
  readonly 'database-url'?: string | undefined;
  readonly 'data-dir'?: string | undefined;
}

/** Throws UsageError on a list that no server has. */
export function refuseUnknownList(list: string | undefined): void {
  if (list !== undefined && !PINNED_LISTS.has(list))
    throw new UsageError('--list takes tools, prompts or instructions');
}

/** The pins of a database, to be disposed of. */
export async function openPins(
  where: Where,
  defaults: DatabaseDefaults,
): Promise<AsyncDisposable & { store: ToolPins }> {
  await using opened = new AsyncDisposableStack();
  const { connectionString } = opened.use(await databaseOf(where['database-url'], where['data-dir'], defaults));
  const store = await openPostgresPins({ connectionString, existing: true });
  opened.defer(() => store.close());
  const kept = opened.move();
  return { store, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

/**
 * The server that is meant: `<namespace>/<name>`, or its name where that is enough. Throws UsageError when it is unknown, or
 * when there are several.
 */
export async function serverOf(
  store: ToolPins,
  name: string,
  { organization, list = 'tools' }: Where,
): Promise<PinnedServer> {
  refuseUnknownList(list);
  const all = (await store.servers()).flatMap((one) => {
    const { server, list: of } = readPinnedList(one.server);
    return of === list ? [{ ...one, kept: one.server, server }] : [];
  });
  const meant = all.filter(
    (one) =>
      (one.server === name || (!name.includes('/') && one.server.endsWith(`/${name}`))) &&
      (organization === undefined || one.organization === organization),
  );
  const [only, another] = meant;
  const shown = showHidden(name);
  if (!only) {
    const of = organization === undefined ? '' : ` of ${showHidden(organization)}`;
    throw new UsageError(`no gateway has listed the ${list} of a server "${shown}"${of} yet. See gwctl mcp servers`);
  }
  if (another) {
    const found = meant.map((one) => `${one.server} of ${one.organization}`).join(', ');
    throw new UsageError(`"${shown}" is ${found}: name its namespace, and --organization`);
  }
  return { organization: only.organization, server: only.kept };
}

/** The pins of a server that `serverOf` found. */
export async function pinsOf(store: ToolPins, of: PinnedServer): Promise<ServerPins> {
  const found = await store.read(of);
  if (found === undefined || found === 'unchanged') throw new Error(`the pins of ${of.server} are gone`);
  return found;
}

/** The option that names a list; nothing for tools. */
export function ofList(list: string): string {
  return list === 'tools' ? '' : ` --list ${list}`;
}

/** One line about a pin, safe to show in a terminal. */
export function pinLine({ tool, state, sha256, since, by }: ToolPin, width: number): string {
  const at = new Date(since).toISOString();
  return `${showHidden(tool).padEnd(width)}  ${state.padEnd(11)}  ${sha256}  ${at}  by ${showHidden(by)}`;
}
