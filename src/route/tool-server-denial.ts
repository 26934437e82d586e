import type { ResolvedPolicy } from '#/config/snapshot.ts';
import { reasonOf, type Denial } from './offer.ts';
import type { RouteQuestion } from './plan.ts';
import type { Target } from '#/call/target.ts';

/**
 * Why a provider may not be asked to call the servers of tools that a request names: policy does not say so, the account is
 * the platform's, or the request would have to be translated, which servers do not survive. // spec 4.5.3
 */
export function toolServerDenial(
  { toolServers, codec }: RouteQuestion,
  { provider, family }: Target,
  policy: ResolvedPolicy,
): Denial | undefined {
  if (!toolServers) return undefined;
  const { param } = toolServers;
  const { keyOwnership, slug } = provider.config;
  const denied = (message: string): Denial => ({ code: 'invalid_request', why: reasonOf(message), message, param });
  if (!policy.providerSideTools.has('mcp')) return denied(`${param} is not supported under this policy.`);
  if (keyOwnership !== 'organization') return denied(`${param} needs the organization's own account with ${slug}.`);
  if (family !== codec.family) return denied(`${param} cannot be translated to ${family}, the protocol of ${slug}.`);
  return undefined;
}
