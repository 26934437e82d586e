import type {
  KeptDefinition,
  PinChange,
  PinMode,
  PinnedServer,
  PinnedServerCount,
  PinState,
  PutPin,
  ServerPins,
  ToolPin,
  ToolPins,
} from '#/ports/tool-pins.ts';
import { arrayOf } from './array-parameter.ts';
import { openStore, type StoreOptions } from './migrate.ts';
import type { Connections } from './pool.ts';
import { query, STATEMENTS } from './statements.ts';

/** Pins of tools in PostgreSQL. */
export interface PostgresPins extends ToolPins {
  close(): Promise<void>;
}

const WRITE_TIMEOUT_MS = 10_000;
/** Calls wait for it. */
const READ_TIMEOUT_MS = 2000;
/** Connections apart from the ledger's, so that neither has to wait for the other. */
const CONNECTIONS = 1;
/** A version that no server has. */
const NONE = 0;

/** Opens the store and brings its schema up to date. Rejects when the database cannot be reached. */
export async function openPostgresPins(options: StoreOptions): Promise<PostgresPins> {
  const { connections: pool, close } = await openStore(options, CONNECTIONS);
  return {
    read: (of, known) => read(pool, of, known),
    change: (change) => applyChange(pool, change),
    servers: () => servers(pool),
    definitions: (of, tool) => definitions(pool, of, tool),
    close,
  };
}

/** Of a server, and of one of its pins: null where it has none, or where none are sent. The instant is a decimal text. */
type PinRow = { readonly mode: PinMode; readonly version: bigint } & (DefinedRow | { readonly tool: null });

interface DefinedRow {
  readonly tool: string;
  readonly sha256: string;
  readonly state: PinState;
  readonly since: string;
  readonly actor: string;
}

async function read(
  pool: Connections,
  { organization, server }: PinnedServer,
  known = NONE,
): Promise<ServerPins | 'unchanged' | undefined> {
  const { rows } = await pool.query<PinRow>(query(STATEMENTS.readPins, [organization, server, known], READ_TIMEOUT_MS));
  const [first] = rows;
  if (!first) return undefined;
  const version = Number(first.version);
  if (version === known) return 'unchanged';
  const pins = rows.flatMap((row) => (row.tool === null ? [] : toPin(row)));
  return { mode: first.mode, version, pins };
}

async function applyChange(pool: Connections, change: PinChange): Promise<boolean> {
  const { organization, server, mode, version, put, drop } = change;
  const texts = <T>(items: readonly T[], text: (item: T) => string): Buffer => arrayOf('text', items.map(text));
  const values = [
    organization,
    server,
    mode,
    version,
    texts(drop, ({ tool }) => tool),
    texts(drop, ({ sha256 }) => sha256),
    ...putColumns(put),
  ];
  const { rows } = await pool.query(query(STATEMENTS.changePins, values, WRITE_TIMEOUT_MS));
  return rows.length > 0;
}

function putColumns(put: readonly PutPin[]): readonly Buffer[] {
  const texts = (text: (pin: PutPin) => string): Buffer => arrayOf('text', put.map(text));
  return [
    texts(({ tool }) => tool),
    texts(({ sha256 }) => sha256),
    texts(({ state }) => state),
    arrayOf(
      'timestamp',
      put.map(({ since }) => since),
    ),
    texts(({ by }) => by),
    texts(({ definition }) => definition ?? ''),
  ];
}

async function servers(pool: Connections): Promise<readonly PinnedServerCount[]> {
  type Row = Omit<PinnedServerCount, PinState> & Readonly<Record<PinState, bigint>>;
  const { rows } = await pool.query<Row>(query(STATEMENTS.pinnedServers, [], READ_TIMEOUT_MS));
  return rows.map(({ accepted, quarantined, removed, ...row }) => ({
    ...row,
    accepted: Number(accepted),
    quarantined: Number(quarantined),
    removed: Number(removed),
  }));
}

async function definitions(
  pool: Connections,
  { organization, server }: PinnedServer,
  tool: string,
): Promise<readonly KeptDefinition[]> {
  type Row = DefinedRow & { readonly definition: string | null };
  const values = [organization, server, tool];
  const { rows } = await pool.query<Row>(query(STATEMENTS.pinnedDefinitions, values, READ_TIMEOUT_MS));
  return rows.map((row) => ({ ...toPin(row), ...(row.definition !== null && { definition: row.definition }) }));
}

function toPin({ tool, sha256, state, since, actor }: DefinedRow): ToolPin {
  return { tool, sha256, state, since: Number(since), by: actor };
}
