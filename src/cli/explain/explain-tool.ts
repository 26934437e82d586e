import { readFileSync } from 'node:fs';
import { rulesOf } from '#/route/argument-rules.ts';
import { routeTool, toolSlug, type RoutedTool } from '#/route/tools.ts';
import { routeRead } from '#/route/tools/reads.ts';
import { Stopped } from '#/call/facts.ts';
import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { createPriceBook } from '#/meter/pricing/price-book.ts';
import type { Quantity } from '#/call/units.ts';
import { BUILT_IN_TOOLS, builtInNamed } from '#/pipeline/tools/built-in/list.ts';
import { BUILT_IN, routeBuiltIn } from '#/route/tools/built-in.ts';
import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import { readDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { writePolicy } from './explain-route.ts';

/** A call of a tool to explain. */
export interface ToolQuestion {
  readonly workload: WorkloadConfig;
  /** `<server>/<tool>`. */
  readonly tool: string;
  /** Undefined: they are not known. */
  readonly args: JsonObject | undefined;
  readonly usdToEur: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Writes the policy of a workload with its origins, and the decision on a call of a tool in the words of the audit row. The
 * server is not asked. Returns the exit status: 0, or 1 when the call would be refused. Throws UsageError for a name without
 * a server.
 */
export function explainTool(question: ToolQuestion, write: (line: string) => void): number {
  const { workload, tool } = question;
  const slash = tool.indexOf('/');
  if (slash <= 0 || slash === tool.length - 1) throw new UsageError('--tool takes SERVER/TOOL');
  writePolicy(workload, write);
  write(tool);
  if (tool.slice(0, slash) === BUILT_IN) return writeBuiltIn(tool.slice(slash + 1), question, write);
  const server = workload.mcpServers.get(tool.slice(0, slash));
  if (!server) {
    const known = [...workload.mcpServers.keys()].join(', ') || 'none';
    write(`refused: 404 not_found: the workload reaches no MCP server with this name, but ${known}`);
    return 1;
  }
  return writeDecision(server, tool.slice(slash + 1), question, write);
}

/** A tool of the gateway's own: whether its engine answers is not asked. */
function writeBuiltIn(name: string, { workload, usdToEur, at }: ToolQuestion, write: (line: string) => void): number {
  const tool = builtInNamed({ server: BUILT_IN, tool: name });
  if (!tool) {
    const known = BUILT_IN_TOOLS.map((one) => one.name).join(', ');
    write(`refused: 404 tool_not_found: the gateway has no tool of its own with this name, but ${known}`);
    return 1;
  }
  const { model } = tool;
  if (!told(() => routeBuiltIn(tool, workload), write)) return 1;
  write(`  mcp/${BUILT_IN}/${name}: selected: takes the steps of ${model}, and its price; nothing leaves the gateway`);
  const book = createPriceBook({ usdToEur });
  const id = model.slice(LOCAL_PROVIDER.slug.length + 1);
  const priceOf = (quantities?: readonly Quantity[]) =>
    book.find(workload.organization, LOCAL_PROVIDER, id, at, quantities);
  const price = priceOf() ?? priceOf(['pages']);
  write(price ? `  ${model}: price from ${price.source}` : `  ${model}: no price`);
  return price ? 0 : 1;
}

/** Writes how a tool was decided on; whether it may be called. */
function told(decide: () => RoutedTool, write: (line: string) => void): boolean {
  const tell = ({ route = [], shadow = [] }: Partial<RoutedTool>): void => {
    for (const line of route) write(`  ${line}`);
    for (const { field, text } of shadow) write(`  shadow: ${field}: ${text}`);
  };
  try {
    tell(decide());
    return true;
  } catch (thrown) {
    if (!(thrown instanceof Stopped) || !(thrown.cause instanceof GatewayError)) throw thrown;
    tell(thrown.facts);
    const { status, code, message } = thrown.cause;
    write(`refused: ${status} ${code}: ${message}`);
    return false;
  }
}

/** Reads the arguments of a call from a file, or from standard input (`-`). Throws UsageError. */
export function readArguments(path: string): JsonObject {
  try {
    return readDocument('mcp', readFileSync(path === '-' ? 0 : path, 'utf8')).body;
  } catch {
    throw new UsageError('--arguments takes a file with a JSON object in which no name is there twice');
  }
}

function writeDecision(
  server: McpServerConfig,
  name: string,
  { workload, args, usdToEur, at }: ToolQuestion,
  write: (line: string) => void,
): number {
  const read = readNamed(name);
  if (!told(() => (read ? routeRead(server, read, workload) : routeTool(server, { name }, workload, args)), write))
    return 1;
  if (read) return writePrice(server, read.id, { workload, usdToEur, at }, write);
  const rules = args === undefined ? rulesOf(server, name).filter(({ rule }) => rule.arguments) : [];
  if (rules.length > 0)
    write(
      `  ${rules.map((one) => one.name).join(' ')} must hold: give the arguments with --arguments FILE to check that`,
    );
  if (server.readOnlyTools) write('  its accepted definition must say readOnlyHint: gwctl mcp diff shows it');
  return writePrice(server, name, { workload, usdToEur, at }, write);
}

function writePrice(
  server: McpServerConfig,
  name: string,
  { workload, usdToEur, at }: Pick<ToolQuestion, 'workload' | 'usdToEur' | 'at'>,
  write: (line: string) => void,
): number {
  const slug = toolSlug(server);
  const book = createPriceBook({ usdToEur });
  const price = book.find(workload.organization, { slug }, name, at, ['calls']);
  write(price ? `  ${slug}/${name}: price from ${price.source}` : `  ${slug}/${name}: no price for a call`);
  return price ? 0 : 1;
}

/** A prompt or a resource, as allow-lists write it; undefined: a tool. */
function readNamed(
  name: string,
): { readonly id: string; readonly kind: 'prompts' | 'resources'; readonly name: string } | undefined {
  if (name.startsWith('prompts/')) return { id: name, kind: 'prompts', name: name.slice('prompts/'.length) };
  if (!name.startsWith('resources/')) return undefined;
  return { id: 'resources/read', kind: 'resources', name: name.slice('resources/'.length) };
}
