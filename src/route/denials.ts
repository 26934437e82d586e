import { cacheMarkers } from '#/wire/request/cache-markers.ts';
import type { Json } from '#/wire/document/json.ts';
import { reasonOf, type Denial } from './offer.ts';
import type { RouteQuestion } from './route-question.ts';
import type { Target } from '#/call/target.ts';
import type { ResolvedPolicy } from '#/config/snapshot.ts';

const ORDINARY_TIERS = new Set(['auto', 'default', 'flex', 'standard_only']);
const LONG_CONTEXT = /^context-1m/;

/**
 * What a managed account does not pay for: a dearer service tier, an hour of prompt cache, the long-context flag.
 * Nothing is sent. With the organization's own key all of it is forwarded, and undefined is returned. // spec 7.1
 */
export function managedKeyDenial(question: RouteQuestion, target: Target): Denial | undefined {
  const { provider, model, family } = target;
  if (provider.config.keyOwnership !== 'managed') return undefined;
  const { body } = question.document;
  const tier = body['service_tier'];
  if (tier !== undefined && tier !== null && !(typeof tier === 'string' && ORDINARY_TIERS.has(tier))) {
    return denial(
      `service_tier must be one of ${[...ORDINARY_TIERS].join(', ')} on a managed provider.`,
      'service_tier',
    );
  }
  const traits = provider.traits(model);
  if (traits.cacheMarks !== 'none' && traits.cacheMarks !== 'as-written') {
    for (const { ttl } of cacheMarkers(question.document)) {
      if (ttl === undefined || ttl === '5m') continue;
      return denial('cache_control.ttl must be 5m on a managed provider.', 'cache_control');
    }
  }
  if ((family === 'messages' || traits.claude) && betaFlags(question).some((flag) => LONG_CONTEXT.test(flag))) {
    return denial('The long-context beta flag is not available on a managed provider.', 'anthropic-beta');
  }
  return undefined;
}

/** Beta flags of the header and of the body. */
function betaFlags({ headers, document: { body } }: RouteQuestion): readonly string[] {
  const header = headers['anthropic-beta'];
  const lists: readonly (Json | undefined)[] = [body['betas'], body['anthropic_beta']];
  const ofBody = lists.flatMap((list): readonly Json[] => (Array.isArray(list) ? (list as readonly Json[]) : []));
  const ofHeader = [header].flat().flatMap((value) => value?.split(',') ?? []);
  return [...ofHeader, ...ofBody.filter((flag) => typeof flag === 'string')].map((flag) => flag.trim());
}

function denial(message: string, param: string): Denial {
  return { code: 'invalid_request', why: reasonOf(message), message, param };
}

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
