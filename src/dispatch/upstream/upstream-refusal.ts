import type { AttemptReport, GatewayError } from '#/errors/gateway-error.ts';
import { UpstreamFault, type Incoming, type Provider } from '#/ports/provider.ts';
import type { AttemptPermit } from './upstreams.ts';
import { withoutCredentials } from './without-credentials.ts';
import { againAfter, answeredWithError, outcomeOf, refusesAccount, type Again } from './upstream-error.ts';

/** An answer that is an error, and what it means. */
export interface Refusal {
  /** The status that the provider means, which may not be the one it sent. */
  readonly status: number;
  /** The provider's own words. */
  readonly message: string | undefined;
  /** The client's error, if no later attempt does better. */
  readonly error: GatewayError;
  readonly again: Again;
  /** How long this call is not to ask this upstream, in milliseconds; undefined: no longer than it takes to recover. */
  readonly waitMs: number | undefined;
}

const MAX_ERROR_BODY = 64 * 1024;

/**
 * Reads an error answer, and notes its effect on the upstream and on its account.
 * Rejects if the call was aborted meanwhile.
 */
export async function readRefusal(
  incoming: Incoming,
  provider: Provider,
  permit: AttemptPermit,
  attempts: readonly AttemptReport[],
): Promise<Refusal> {
  const failure = provider.readFailure(incoming, await errorBody(incoming));
  const { retryAfterMs } = failure;
  const { credentials } = provider.config;
  const message = failure.message === undefined ? undefined : withoutCredentials(failure.message, credentials);
  const status = failure.status ?? incoming.status;
  permit.end(outcomeOf(status));
  const error = answeredWithError(status, message, retryAfterMs, attempts, provider.config.keyOwnership === 'managed');
  if (refusesAccount(status, failure)) {
    return { status, message, error, again: permit.refused() ? 'here' : 'elsewhere', waitMs: 0 };
  }
  const again = againAfter(status, failure);
  if (status !== 429 || retryAfterMs === undefined) return { status, message, error, again, waitMs: retryAfterMs };
  // How long depends on whether there is another account to ask with.
  permit.limited(retryAfterMs);
  return { status, message, error, again, waitMs: 0 };
}

/** An error body that can't be read is no reason to lose the status it came with. */
async function errorBody(incoming: Incoming): Promise<string> {
  try {
    return await incoming.text(MAX_ERROR_BODY);
  } catch (thrown) {
    if (thrown instanceof UpstreamFault && thrown.kind !== 'aborted') return '';
    throw thrown;
  }
}
