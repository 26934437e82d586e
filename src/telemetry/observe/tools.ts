import type { PinKeeper } from '#/dispatch/tools/pin-keeper.ts';
import type { Log } from '#/telemetry/log.ts';
import { gauge, type Metrics } from '#/telemetry/metrics.ts';
import type { Handlers } from './handlers.ts';

export const TOOL_METRICS = {
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

/** Names of tools in one line of the log. */
const MOST_NAMES = 20;

/** Counts and logs the tools of MCP servers. */
export function observeTools(log: Log, metrics: Metrics) {
  const count = metrics.open(TOOL_METRICS);
  const handlers: Handlers<'tools.changed' | 'tools.unfit'> = {
    'tools.changed': ({ kind, tools, ...facts }) => {
      const line = { event: kind, ...facts, count: tools.length, tools: tools.slice(0, MOST_NAMES) };
      if (facts.what === 'quarantined') log.warn(line);
      else log.info(line);
    },
    'tools.unfit': ({ kind, organization, server, why, tools }) => {
      log.warn({
        event: kind,
        organization,
        server,
        why,
        count: tools.length,
        tools: tools.slice(0, MOST_NAMES).map(short),
      });
    },
  };
  return {
    handlers,
    watchPins: (pins: Pick<PinKeeper, 'counts' | 'hidden'>): void => {
      count.tools.from(() => pins.counts());
      count.hidden.from(() => pins.hidden());
    },
  };
}

/** A name that is no name may be of any length. */
function short(name: string): string {
  return name.slice(0, 128).toWellFormed();
}
