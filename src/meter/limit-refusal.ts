import type { WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { HoldDecision, Limits } from '#/ports/limit-counters.ts';
import { formatEuro, type NanoEuro } from '#/values/money.ts';
import type { Standing } from './standing.ts';

/** A decision of the counters against a call. `standing`: of the limit of money that it is refused by, where that is known. */
export type Refused = Extract<HoldDecision, { kind: 'refused' }> & { readonly standing?: Standing };

/**
 * The client's error for a limit: 429 for a rate, 402 for money. `asked`: the maximum cost of the call, if it was
 * computed. // spec 7.1
 */
export function limitRefusal(decision: Refused, workload: WorkloadConfig, asked?: NanoEuro): GatewayError {
  const limits = limitsIn(decision);
  const { retryAfterMs } = decision;
  switch (decision.by) {
    case 'requests':
    case 'tokens': {
      const limit = decision.by === 'requests' ? workload.requestsPerMinute : workload.tokensPerMinute;
      const message =
        retryAfterMs === undefined
          ? `This request alone needs more than the workload's ${limit} ${decision.by} per minute, so it can never be served. ` +
            `Shorten it, or raise limits.${decision.by}PerMinute of Workload ${workload.id}.`
          : `Rate limit reached: ${limit} ${decision.by} per minute for this workload.`;
      // A request that never fits is not worth repeating.
      const advice = retryAfterMs === undefined ? { shouldRetry: false } : { retryAfterMs };
      return new GatewayError('rate_limit_exceeded', message, { limits, ...advice });
    }
    case 'budget':
    case 'cap':
    case 'credit': {
      const sentences = [
        `Too little is left of ${nameOf(decision.by, workload)} for this request.`,
        ...amounts(decision.standing, asked),
      ];
      return new GatewayError('insufficient_quota', sentences.join(' '), { limits });
    }
  }
}

function nameOf(by: 'budget' | 'cap' | 'credit', { budget, organization }: WorkloadConfig): string {
  if (by === 'budget') return `the ${budget?.period ?? 'highest'} budget of this workload`;
  if (by === 'cap') return `the ${organization.cap?.period ?? 'highest'} cap of this organization`;
  return "this organization's prepaid credit";
}

/** Sentences for the caller: the standing of its organization's limit, and what its request may cost. */
function amounts(standing: Standing | undefined, asked: NanoEuro | undefined): readonly string[] {
  const request = asked === undefined || asked === 0n ? [] : [`This request may cost up to ${formatEuro(asked)} EUR.`];
  if (!standing) return request;
  const { amount, spent, held, endsAt } = standing;
  const of = `Of ${formatEuro(amount)} EUR, ${formatEuro(spent)} EUR are spent and ${formatEuro(held)} EUR are held for calls in flight.`;
  const end = endsAt === undefined ? [] : [`The period ends at ${new Date(endsAt).toISOString().replace('.000', '')}.`];
  return [of, ...request, ...end];
}

/** What a decision says of the limits per minute. */
export function limitsIn({ requests, tokens }: Limits): Limits {
  return { ...(requests && { requests }), ...(tokens && { tokens }) };
}
