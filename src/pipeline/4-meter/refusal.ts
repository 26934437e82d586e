import type { WorkloadConfig } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import type { HoldDecision, RateStatus } from '#ports/limit-counters.ts';
import { formatEuro } from './money.ts';

type Refused = Extract<HoldDecision, { kind: 'refused' }>;

/** A limit's refusal as the client is told: 429 for a rate, 402 for money. // spec 7.1 */
export function limitRefusal(decision: Refused, workload: WorkloadConfig): GatewayError {
  const headers = limitHeaders(decision);
  const { retryAfterMs } = decision;
  switch (decision.by) {
    case 'requests':
    case 'tokens': {
      const limit = decision.by === 'requests' ? workload.requestsPerMinute : workload.tokensPerMinute;
      const message =
        retryAfterMs === undefined
          ? `This request alone needs more than the workload's ${limit} ${decision.by} per minute.`
          : `Rate limit reached: ${limit} ${decision.by} per minute for this workload.`;
      return new GatewayError('rate_limit_exceeded', message, {
        headers,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
    }
    case 'budget':
      return quotaError(`the ${workload.budget?.period} budget of this workload`, workload.budget?.amount, headers);
    case 'cap':
      return quotaError(
        `the ${workload.organization.cap?.period} cap of this organization`,
        workload.organization.cap?.amount,
        headers,
      );
  }
}

function quotaError(what: string, amount: bigint | undefined, headers: Record<string, string>): GatewayError {
  const limit = amount === undefined ? '' : ` (${formatEuro(amount)} EUR)`;
  return new GatewayError(
    'insufficient_quota',
    `Not enough is left of ${what}${limit} for what this request may cost.`,
    {
      headers,
    },
  );
}

/** `x-ratelimit-*` as OpenAI's clients read them. */
export function limitHeaders(decision: {
  readonly requests?: RateStatus;
  readonly tokens?: RateStatus;
}): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['requests', 'tokens'] as const) {
    const status = decision[name];
    if (!status) continue;
    headers[`x-ratelimit-limit-${name}`] = String(status.limit);
    headers[`x-ratelimit-remaining-${name}`] = String(status.remaining);
    headers[`x-ratelimit-reset-${name}`] = `${Math.ceil(status.resetMs)}ms`;
  }
  return headers;
}
