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
    'Time that calls of tools took, refused ones included, by MCP server.',
    SECONDS,
    'server',
  ),
  approvals: counter(
    'gw_mcp_approvals_total',
    'Calls of tools that a person must approve, by MCP server and state: asked, waiting, approved, denied, expired.',
    'server',
    'state',
  ),
  listSeconds: histogram('gw_mcp_list_seconds', 'Time that servers took to list their tools, or to fail.', SECONDS),
  streams: gauge('gw_mcp_streams', 'Answers to calls of tools that are streams and still open.'),
  lists: counter(
    'gw_mcp_lists_total',
    'Requests for the tools of a server, by MCP server and result.',
    'server',
    'result',
  ),
  up: gauge('gw_mcp_server_up', 'Whether an MCP server listed its tools when it was last asked, by server.', 'server'),
  tools: gauge(
    'gw_mcp_tools',
    'Tools of an MCP server by state: accepted, quarantined, removed, unfit.',
    'server',
    'state',
  ),
  hidden: gauge(
    'gw_mcp_hidden_characters',
    'Invisible and bidirectional characters in the definitions that an MCP server offers.',
    'server',
  ),
};

type ToolKind = 'tool.approval' | 'tool.called' | 'tools.changed' | 'tools.listed' | 'tools.unfit' | 'tools.unlisted';

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
    'tool.approval': ({ kind, state, ...facts }) => {
      count.approvals.inc(facts.server, state);
      if (state === 'asked' || state === 'expired') log.info({ event: kind, ...facts });
    },
    'tools.changed': ({ kind, tools, ...facts }) => {
      const line = { event: kind, ...facts, count: tools.length, tools: firstOf(tools) };
      if (facts.what === 'quarantined') log.warn(line);
      else log.info(line);
    },
    'tools.listed': ({ kind, server, tools: listed, leftOut, durationMs }) => {
      count.listSeconds.observe(durationMs / 1000);
      count.lists.inc(server, 'listed');
      up.set(server, 1);
      log.debug({ event: kind, server, tools: listed, left_out: leftOut });
    },
    'tools.unfit': ({ kind, tools, ...facts }) => {
      log.warn({ event: kind, ...facts, count: tools.length, tools: firstOf(tools) });
    },
    'tools.unlisted': ({ kind, server, why, isNew, durationMs }) => {
      count.listSeconds.observe(durationMs / 1000);
      count.lists.inc(server, 'failed');
      up.set(server, 0);
      if (isNew) log.warn({ event: kind, server, why });
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
      count.tools.from(() => pins.counts());
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
