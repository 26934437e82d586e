import type { ProviderConfig } from '#/config/snapshot.ts';
import type { AttemptReport } from '#/errors/gateway-error.ts';
import type { Target } from '#/call/target.ts';

/** What became of an attempt. */
export interface AttemptOutcome {
  readonly status?: number;
  readonly error?: string;
  /** Whether the prompt was sent, or may have been. */
  readonly sent: boolean;
}

const hosts = new WeakMap<ProviderConfig, string>();

/** An attempt as the audit row tells it. `started`: by `performance.now()`. */
export function attemptReport(
  { provider, model }: Pick<Target, 'provider' | 'model'>,
  { status, error, sent }: AttemptOutcome,
  started: number,
): AttemptReport {
  const host = hostOf(provider.config);
  const duration_ms = Math.round(performance.now() - started);
  const jurisdiction = provider.jurisdiction(model);
  const { slug } = provider.config;
  // Most attempts are answered; spelled out, since spreading costs more than all else here.
  if (status !== undefined && error === undefined && host !== '')
    return { provider: slug, model, status, duration_ms, host, jurisdiction, sent };
  return {
    provider: slug,
    model,
    ...(status !== undefined && { status }),
    ...(error !== undefined && { error }),
    duration_ms,
    ...(host !== '' && { host }),
    jurisdiction,
    sent,
  };
}

/** The host of a provider's base address, empty where it is this gateway. */
function hostOf(config: ProviderConfig): string {
  let host = hosts.get(config);
  if (host === undefined) hosts.set(config, (host = URL.parse(config.url)?.host ?? ''));
  return host;
}
