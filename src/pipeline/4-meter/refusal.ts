import type { WorkloadConfig } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import type { Limits } from '#pipeline/call.ts';
import type { HoldDecision } from '#ports/limit-counters.ts';
import { formatEuro } from './money.ts';

/** A decision of the counters against a call. */
export type Refused = Extract<HoldDecision, { kind: 'refused' }>;

/** A limit's refusal as the client is told: 429 for a rate, 402 for money. // spec 7.1 */
export function limitRefusal(decision: Refused, workload: WorkloadConfig): GatewayError {
  const limits = limitsIn(decision);
  const { retryAfterMs } = decision;
  switch (decision.by) {
    case 'requests':
    case 'tokens': {
      const limit = decision.by === 'requests' ? workload.requestsPerMinute : workload.tokensPerMinute;
      const message =
        retryAfterMs === undefined
          ? `This request alone needs more than the workload's ${limit} ${decision.by} per minute.`
          : `Rate limit reached: ${limit} ${decision.by} per minute for this workload.`;
      // A request that never fits is not worth repeating.
      const advice = retryAfterMs === undefined ? { shouldRetry: false } : { retryAfterMs };
      return new GatewayError('rate_limit_exceeded', message, { limits, ...advice });
    }
    case 'budget':
      return quotaError(`the ${workload.budget?.period} budget of this workload`, workload.budget?.amount, limits);
    case 'cap':
      return quotaError(
        `the ${workload.organization.cap?.period} cap of this organization`,
        workload.organization.cap?.amount,
        limits,
      );
    case 'credit':
      return quotaError("this organization's prepaid credit", undefined, limits);
  }
}

function quotaError(what: string, amount: bigint | undefined, limits: Limits): GatewayError {
  const limit = amount === undefined ? '' : ` (${formatEuro(amount)} EUR)`;
  const message = `Not enough is left of ${what}${limit} for what this request may cost.`;
  return new GatewayError('insufficient_quota', message, { limits });
}

/** What a decision says of the limits per minute. */
export function limitsIn({ requests, tokens }: Limits): Limits {
  return { ...(requests && { requests }), ...(tokens && { tokens }) };
}
