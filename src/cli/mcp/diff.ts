import { parseArgs } from 'node:util';
import { readPinnedList, type KeptDefinition } from '#/ports/tool-pins.ts';
import { countHidden } from '#/values/hidden-characters.ts';
import type { DatabaseDefaults } from '../stores/database.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { definitionDifferences } from './definition-differences.ts';
import { ofList, openPins, PIN_OPTIONS, PIN_OPTIONS_HELP, pinLine, serverOf } from './pins.ts';

export const MCP_DIFF_HELP = `gwctl mcp diff SERVER TOOL [--list LIST] [--organization ID]

Shows how the quarantined definition of a tool, a prompt or instructions differs from the accepted one, place by place;
all of it where the tool is new. Characters that cannot be seen are written as <U+202E>. Exits with 1 when a definition is
quarantined.

  SERVER               <namespace>/<name> of the MCPServer, or its name where that is enough
  TOOL                 Name of the tool or prompt, as the server lists it; instructions
${PIN_OPTIONS_HELP}`;

/** Shows the definitions of a tool. Returns the exit status: 1 where one is quarantined, else 0. */
export async function mcpDiff(args: readonly string[], defaults: DatabaseDefaults, { out }: Output): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: PIN_OPTIONS });
  const [name, tool, ...more] = positionals;
  if (name === undefined || tool === undefined || more.length > 0) throw new UsageError('give one server and one tool');
  await using opened = await openPins(values, defaults);
  const of = await serverOf(opened.store, name, values);
  const { server, list } = readPinnedList(of.server);
  const kept = await opened.store.definitions(of, tool);
  if (kept.length === 0)
    throw new UsageError(
      `${server} has no ${SINGULAR[list]} of this name. See gwctl mcp tools ${server}${ofList(list)}`,
    );
  const held = kept.find(({ state }) => state === 'quarantined');
  const accepted = kept.find(({ state }) => state !== 'quarantined');
  for (const pin of kept) out(pinLine(pin, tool.length));
  out('');
  for (const line of linesOf(held ? accepted : undefined, held ?? accepted)) out(line);
  if (!held) return 0;
  const by = `--organization ${of.organization} --sha256 ${held.sha256}`;
  out(`\nTo accept it:\n  gwctl mcp accept ${server} ${tool}${ofList(list)} ${by}`);
  return 1;
}

const SINGULAR = { tools: 'tool', prompts: 'prompt', instructions: 'instructions' } as const;

function linesOf(before: KeptDefinition | undefined, after: KeptDefinition | undefined): readonly string[] {
  const long = [before, after].some((pin) => pin !== undefined && pin.definition === undefined);
  if (long) return ['A definition is longer than 65,536 characters: only its hash is kept.'];
  const differences = definitionDifferences(parsed(before), parsed(after));
  const lines = differences.flatMap(({ path, before: was, after: is }) => [
    path,
    ...(was === undefined ? [] : [`  - ${was}`]),
    ...(is === undefined ? [] : [`  + ${is}`]),
  ]);
  const hidden = countHidden(after?.definition ?? '');
  return hidden === 0 ? lines : [...lines, '', `Characters in it that cannot be seen: ${hidden}`];
}

function parsed(pin: KeptDefinition | undefined): unknown {
  return pin?.definition === undefined ? undefined : JSON.parse(pin.definition);
}
