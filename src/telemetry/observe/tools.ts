import type { Log } from '#/telemetry/log.ts';
import { counter, gauge, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

export const TOOL_METRICS = {
  calls: counter('gw_mcp_calls_total', 'Calls of tools, by MCP server and outcome.', 'server', 'outcome'),
  seconds: counter('gw_mcp_call_seconds_total', 'Time that calls of tools took, by MCP server.', 'server'),
  lists: counter(
    'gw_mcp_lists_total',
    'Requests for the tools of a server, by MCP server and result.',
    'server',
    'result',
  ),
  up: gauge('gw_mcp_server_up', 'Whether an MCP server told its tools when it was last asked, by server.', 'server'),
  tools: gauge('gw_mcp_tools', 'Tools that an MCP server lists, by server.', 'server'),
};

/** Counts calls of tools, and what their servers list. */
export function observeTools(log: Log, metrics: Metrics) {
  const count = metrics.open(TOOL_METRICS);
  const up = new Map<string, number>();
  const tools = new Map<string, number>();
  count.up.from(() => up);
  count.tools.from(() => tools);
  const handlers: Handlers<'tool.called' | 'tools.listed' | 'tools.unlisted'> = {
    'tool.called': ({ server, outcome, durationMs }) => {
      count.calls.inc(server, outcome);
      count.seconds.add(durationMs / 1000, server);
    },
    'tools.listed': ({ kind, server, tools: listed, leftOut }) => {
      count.lists.inc(server, 'listed');
      up.set(server, 1);
      tools.set(server, listed);
      log.debug({ event: kind, server, tools: listed, left_out: leftOut });
    },
    'tools.unlisted': ({ kind, server, why, isNew }) => {
      count.lists.inc(server, 'failed');
      up.set(server, 0);
      if (isNew) log.warn({ event: kind, server, why });
    },
  };
  return handlers;
}
