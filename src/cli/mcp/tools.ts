import { parseArgs } from 'node:util';
import { toResource } from '#/config/resources/names.ts';
import type { DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readPinnedList } from '#/ports/tool-pins.ts';
import {
  openPins,
  PIN_DATABASE_HELP,
  PIN_OPTIONS,
  PIN_OPTIONS_HELP,
  pinLine,
  pinsOf,
  refuseUnknownList,
  serverOf,
} from './pins.ts';

export const MCP_SERVERS_HELP = `gwctl mcp servers [--list LIST] [--organization ID] [--json]

Lists the MCP servers whose tools, prompts or instructions gateways have listed: how their definitions are treated, and how
many are accepted, quarantined and removed.

  --json               Writes one JSON object per line
  --organization ID    Only servers of this Organization, <namespace>/<name>
  --list LIST          Only tools, prompts or instructions (default: all three)
${PIN_DATABASE_HELP}`;

export const MCP_TOOLS_HELP = `gwctl mcp tools SERVER [--list LIST] [--organization ID] [--json]

Lists the tools of an MCP server, or its prompts or instructions, with the state of their definitions. A tool whose
definition changed has two: the accepted one, and the quarantined one that the server lists now. The hash is the SHA-256
that a resource declares.

  SERVER               <namespace>/<name> of the MCPServer, or its name where that is enough
  --json               Writes one JSON object per line
${PIN_OPTIONS_HELP}`;

const OPTIONS = { ...PIN_OPTIONS, json: { type: 'boolean', default: false } } as const;

/** Lists servers. Returns the exit status, 0. */
export async function mcpServers(
  args: readonly string[],
  defaults: DatabaseDefaults,
  { out, err }: Output,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  refuseUnknownList(values.list);
  await using pins = await openPins(values, defaults);
  const all = await pins.store.servers();
  const servers = all
    .map((one) => ({ ...one, ...readPinnedList(one.server) }))
    .filter(({ organization }) => (values.organization ?? organization) === organization)
    .filter(({ list }) => (values.list ?? list) === list);
  if (servers.length === 0) err(`no gateway has listed the ${values.list ?? 'tools'} of a server yet`);
  for (const { mode, server, list, ...one } of servers) {
    if (values.json) out(JSON.stringify({ ...one, server, list, mode: toResource('definitionsMode', mode) }));
    else {
      const { organization, accepted, quarantined, removed } = one;
      const counts = `${accepted} accepted, ${quarantined} quarantined, ${removed} removed`;
      out(`${server}  ${list}  of ${organization}  ${toResource('definitionsMode', mode)}  ${counts}`);
    }
  }
  return 0;
}

/** Lists the tools of a server. Returns the exit status, 0. */
export async function mcpTools(args: readonly string[], defaults: DatabaseDefaults, { out }: Output): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw new UsageError('give one server');
  await using opened = await openPins(values, defaults);
  const of = await serverOf(opened.store, name, values);
  const { pins } = await pinsOf(opened.store, of);
  const sorted = pins.toSorted((a, b) => (`${a.tool} ${a.state}` < `${b.tool} ${b.state}` ? -1 : 1));
  const width = Math.max(0, ...sorted.map(({ tool }) => tool.length));
  for (const pin of sorted) {
    const since = new Date(pin.since).toISOString();
    out(values.json ? JSON.stringify({ ...of, ...readPinnedList(of.server), ...pin, since }) : pinLine(pin, width));
  }
  return 0;
}
