import type { CallContext } from '#/call/call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { askCounters } from './meter.ts';
import type { MeterDeps } from './meter.ts';
import { periodsAt } from './limits/periods.ts';

/** `callsPerMinute` of one server is reached: others may still be called. */
export class ServerLimitReached extends GatewayError {}

/**
 * Counts a call of a tool against `callsPerMinute` of its server, over all gateways: a window of the workload's own at each
 * server. Throws `rate_limit_exceeded`, or `limits_unavailable` when it cannot be checked.
 */
export async function countServerCall(
  { id, startedAt, key: { workload } }: CallContext,
  { id: server, name, callsPerMinute }: Pick<McpServerConfig, 'id' | 'name' | 'callsPerMinute'>,
  deps: Pick<MeterDeps, 'counters' | 'restorer' | 'owner'>,
): Promise<void> {
  if (callsPerMinute === undefined) return;
  const asked = {
    callId: id,
    owner: deps.owner,
    organization: workload.organization.id,
    // No id of a workload has a space: the counters keep a window for the pair.
    workload: `${workload.id} mcp ${server}`,
    at: startedAt,
    periods: periodsAt(startedAt, workload.organization.timeZone),
    amount: 0n,
    tokens: 0,
    draft: '',
    free: true,
    requestsPerMinute: callsPerMinute,
  };
  const decision = await askCounters(asked, workload, deps);
  if (decision.kind === 'granted') return;
  const message = `Rate limit reached: ${callsPerMinute} calls per minute of the MCP server ${name} for this workload.`;
  const { retryAfterMs } = decision;
  throw new ServerLimitReached('rate_limit_exceeded', message, retryAfterMs === undefined ? {} : { retryAfterMs });
}
