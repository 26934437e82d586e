import { parseArgs } from 'node:util';
import { readPinnedList, type PinnedServer, type ServerPins, type ToolPin, type ToolPins } from '#/ports/tool-pins.ts';
import { acceptPins } from '#/route/tools/accept-pins.ts';
import type { DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { actorOf } from './actor.ts';
import { openPins, PIN_OPTIONS, PIN_OPTIONS_HELP, pinsOf, serverOf } from './pins.ts';

export const MCP_ACCEPT_HELP = `gwctl mcp accept SERVER [TOOL] [--list LIST] [--sha256 HASH] [--organization ID] [--actor NAME]

Accepts the quarantined definition of a tool, or of all tools of a server; or of prompts or instructions. Gateways offer
it when they list the tools of the server next, within a minute. The definition that was accepted before is forgotten: if
the server lists it again, it is quarantined. Who accepted it, and when, is kept: see gwctl mcp tools.

  SERVER               <namespace>/<name> of the MCPServer, or its name where that is enough
  TOOL                 Name of the tool or prompt, as the server lists it; instructions
                       (default: all that are quarantined)
  --sha256 HASH        Accepts no other definition than this one: gwctl mcp diff shows its hash
  --actor NAME         Who accepts it (default: USER)
${PIN_OPTIONS_HELP}`;

/** Where pins are, and who accepts them, when the command line does not say. */
export interface AcceptDefaults extends DatabaseDefaults {
  readonly actor: string | undefined;
}

const SHA256 = /^[0-9a-f]{64}$/;
const MOST_TRIES = 5;

/** Accepts definitions. Returns the exit status: 0, or 1 where nothing is quarantined. Throws when it cannot be done. */
export async function mcpAccept(
  args: readonly string[],
  defaults: AcceptDefaults,
  { out, err }: Output,
): Promise<number> {
  const options = { ...PIN_OPTIONS, sha256: { type: 'string' }, actor: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const [name, tool, ...more] = positionals;
  const { sha256 } = values;
  if (name === undefined || more.length > 0) throw new UsageError('give one server, and one tool or none');
  if (sha256 !== undefined && tool === undefined) throw new UsageError('--sha256 is of one tool: name the tool');
  if (sha256 !== undefined && !SHA256.test(sha256)) throw new UsageError('--sha256 takes 64 hexadecimal digits');
  const actor = actorOf(values.actor ?? defaults.actor);
  await using opened = await openPins(values, defaults);
  const of = await serverOf(opened.store, name, values);
  const accepted = await accept(opened.store, of, { tool, sha256, actor });
  for (const pin of accepted)
    out(`accepted ${pin.tool} ${pin.sha256} of ${readPinnedList(of.server).server}, by ${actor}`);
  if (accepted.length > 0) return 0;
  const { server, list } = readPinnedList(of.server);
  const none = `nothing of the ${list} of ${server} is quarantined`;
  err(tool === undefined ? none : `${tool} of ${server} is not quarantined`);
  return 1;
}

interface Acceptance {
  readonly tool: string | undefined;
  readonly sha256: string | undefined;
  readonly actor: string;
}

/** Again where a gateway wrote at the same time: what it wrote may be another definition. */
async function accept(
  store: ToolPins,
  of: PinnedServer,
  { tool, sha256, actor }: Acceptance,
): Promise<readonly ToolPin[]> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const pins = await pinsOf(store, of);
    refuseDeclared(of, pins, tool);
    const change = acceptPins(pins, tool, actor, Date.now());
    if (!change) return [];
    const [first] = change.put;
    if (sha256 !== undefined && first?.sha256 !== sha256)
      throw new Error(`the quarantined definition of ${tool} is another one, ${first?.sha256}: look at it again`);
    if (await store.change({ ...of, ...change, version: pins.version })) return change.put;
  }
  throw new Error('gateways are changing the pins of this server: try again');
}

/** What a resource declares is not for the database to change. */
function refuseDeclared({ server: kept }: PinnedServer, { mode, pins }: ServerPins, tool: string | undefined): void {
  if (mode !== 'declared') return;
  const { server, list } = readPinnedList(kept);
  const held = pins.find((pin) => pin.state === 'quarantined' && (tool === undefined || pin.tool === tool));
  const line = held ? `{name: ${held.tool}, sha256: ${held.sha256}}` : '{name, sha256}';
  throw new UsageError(
    list === 'instructions'
      ? `${server} declares its definitions: set spec.definitions.instructions of the MCPServer to ${held?.sha256 ?? 'its hash'}`
      : `${server} declares its definitions: add ${line} to spec.definitions.${list} of the MCPServer`,
  );
}
