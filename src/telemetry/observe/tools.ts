import type { ConfigSource } from '#/config/config-source.ts';
import type { PinKeeper } from '#/dispatch/tools/pin-keeper.ts';
import type { Snapshot } from '#/config/snapshot.ts';
import type { OpenCalls } from '#/surfaces/endpoint/open-calls.ts';
import type { Log } from '#/telemetry/log.ts';
import { counter, gauge, histogram, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

/** Bounds of buckets, in seconds: a call may take up to 10 minutes. */
const SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export const TOOL_METRICS = {
  calls: counter('gw_mcp_calls_total', 'Calls of tools, by MCP server and outcome.', 'server', 'outcome'),
  seconds: histogram(
    'gw_mcp_call_seconds',
    'Time that calls of tools and reads took, refused ones included, by MCP server.',
    SECONDS,
    'server',
  ),
  approvals: counter(
    'gw_mcp_approvals_total',
    'Calls of tools that a person must approve, by MCP server and state: asked, waiting, approved, denied, expired.',
    'server',
    'state',
  ),
  reads: counter(
    'gw_mcp_reads_total',
    'Requests that read resources, prompts or completions, by MCP server, method and outcome.',
    'server',
    'method',
    'outcome',
  ),
  listSeconds: histogram('gw_mcp_list_seconds', 'Time that servers took to give a list, or to fail.', SECONDS),
  streams: gauge('gw_mcp_streams', 'Streams to MCP clients that are open: answers to calls, and streams that last.'),
  lists: counter(
    'gw_mcp_lists_total',
    'Requests for a list of a server (tools, prompts, resources, templates, about), by MCP server, list and result.',
    'server',
    'list',
    'result',
  ),
  up: gauge('gw_mcp_server_up', 'Whether an MCP server listed its tools when it was last asked, by server.', 'server'),
  tools: gauge(
    'gw_mcp_tools',
    'Tools of an MCP server by state: accepted, quarantined, removed, unfit.',
    'server',
    'state',
  ),
  prompts: gauge('gw_mcp_prompts', 'Prompts of an MCP server by state, as of tools.', 'server', 'state'),
  instructions: gauge(
    'gw_mcp_instructions',
    'Instructions of an MCP server by state, as of tools: 0 or 1 for each organization.',
    'server',
    'state',
  ),
  hidden: gauge(
    'gw_mcp_hidden_characters',
    'Invisible and bidirectional characters in the definitions that an MCP server offers, by list.',
    'server',
    'list',
  ),
};

type ToolKind =
  | 'tool.approval'
  | 'tool.called'
  | 'server.read'
  | 'tools.changed'
  | 'tools.listed'
  | 'tools.unfit'
  | 'tools.unlisted';

/** Names of tools in one line of the log. */
const MOST_NAMES = 20;
/** A name that is no name may be of any length. */
const MOST_CHARACTERS = 128;

/** Counts calls of tools, what their servers list, and the states of definitions. */
export function observeTools(log: Log, metrics: Metrics) {
  const count = metrics.open(TOOL_METRICS);
  const up = new Map<string, number>();
  const handlers: Handlers<ToolKind> = {
    'tool.called': ({ server, outcome, durationMs }) => {
      count.calls.inc(server, outcome);
      count.seconds.observe(durationMs / 1000, server);
    },
    'server.read': ({ server, method, outcome, durationMs }) => {
      count.reads.inc(server, method, outcome);
      count.seconds.observe(durationMs / 1000, server);
    },
    'tool.approval': ({ kind, state, ...facts }) => {
      count.approvals.inc(facts.server, state);
      if (state === 'asked' || state === 'expired') log.info({ event: kind, ...facts });
    },
    'tools.changed': ({ kind, tools, ...facts }) => {
      const line = { event: kind, ...facts, count: tools.length, tools: firstOf(tools) };
      if (facts.what === 'quarantined') log.warn(line);
      else log.info(line);
    },
    'tools.listed': ({ kind, list, server, tools: listed, leftOut, durationMs }) => {
      count.listSeconds.observe(durationMs / 1000);
      count.lists.inc(server, list, 'listed');
      if (list === 'tools') up.set(server, 1);
      log.debug({ event: kind, list, server, tools: listed, left_out: leftOut });
    },
    'tools.unfit': ({ kind, tools, ...facts }) => {
      log.warn({ event: kind, ...facts, count: tools.length, tools: firstOf(tools) });
    },
    'tools.unlisted': ({ kind, list, server, why, isNew, durationMs }) => {
      count.listSeconds.observe(durationMs / 1000);
      count.lists.inc(server, list, 'failed');
      if (list === 'tools') up.set(server, 0);
      if (isNew) log.warn({ event: kind, list, server, why });
    },
  };
  return {
    handlers,
    watchStreams: (calls: Pick<OpenCalls, 'toolStreams'>): void => {
      count.streams.from(() => calls.toolStreams);
    },
    /** Counts no server that is not configured any longer. */
    watchServers: (config: Pick<ConfigSource, 'current'>): void => {
      count.up.from(() => {
        const servers = configuredIn(config.current());
        for (const server of up.keys()) if (!servers.has(server)) up.delete(server);
        return up;
      });
    },
    watchPins: (pins: Pick<PinKeeper, 'counts' | 'hidden'>): void => {
      count.tools.from(() => pins.counts('tools'));
      count.prompts.from(() => pins.counts('prompts'));
      count.instructions.from(() => pins.counts('instructions'));
      count.hidden.from(() => pins.hidden());
    },
  };
}

/** Of the snapshot that was asked for last: a scrape asks for the same again and again. */
let last: { readonly snapshot: Snapshot; readonly servers: ReadonlySet<string> } | undefined;

/** Ids of the servers that a workload reaches. */
function configuredIn(snapshot: Snapshot | undefined): ReadonlySet<string> {
  if (!snapshot) return new Set();
  if (last?.snapshot !== snapshot) {
    const maps = new Set(snapshot.workloads.values().map(({ mcpServers }) => mcpServers));
    last = { snapshot, servers: new Set(maps.values().flatMap((servers) => servers.values().map(({ id }) => id))) };
  }
  return last.servers;
}

function firstOf(names: readonly string[]): readonly string[] {
  return names.slice(0, MOST_NAMES).map((name) => name.slice(0, MOST_CHARACTERS).toWellFormed());
}
