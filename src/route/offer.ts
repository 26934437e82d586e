import type { Offer } from '#/call/target.ts';
import type { OrganizationConfig, ProviderConfig, ResolvedPolicy } from '#/config/snapshot.ts';
import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { ErrorCode } from '#/errors/catalogue.ts';
import { ENGINE_OFF } from '#/ports/documents.ts';
import type { Provider } from '#/ports/provider.ts';
import { takesIn } from '#/values/places.ts';

/** Gives a configured provider its way out; undefined when it cannot be made. */
export type Providers = (config: ProviderConfig) => Provider | undefined;

/** Whose providers, and under which policy: the one in force, or one that is only watched. */
export interface Terms {
  readonly organization: OrganizationConfig;
  readonly policy: ResolvedPolicy;
}

/** Why a model may not serve a call. */
export interface Denial {
  readonly code: ErrorCode;
  /** In few words, for traces: `in US, allowed are EU (Policy acme/strict (override))`. */
  readonly why: string;
  /** As a sentence, for the client. */
  readonly message: string;
  /** The request member at fault. */
  readonly param?: string;
  /** As of `GatewayError`. */
  readonly shouldRetry?: boolean;
}

/**
 * A model inside allow-lists and residency, or why it is not. Nothing is reached but through here. // spec 4.5.1, 5.5, 7.1
 * `alias`: the alias it was asked for by, if any: that being allowed is enough.
 */
export function offerOf(
  id: string,
  alias: string | undefined,
  { organization, policy }: Terms,
  providers: Providers,
): Offer | Denial {
  if (policy.allowedModels.length > 0) {
    const unlisted = allowListReason(alias === undefined ? [id] : [alias, id], policy);
    if (unlisted) return notAllowed(unlisted);
  }
  const slash = id.indexOf('/');
  const [slug, model] = [id.slice(0, slash), id.slice(slash + 1)];
  const config = slug === LOCAL_PROVIDER.slug ? LOCAL_PROVIDER : organization.providers.get(slug);
  if (!config) return notThere('No provider with this name is configured for the organization.');
  const settings = config.models.get(model);
  if (config.onlyListedModels === true && !settings) return notThere(config === LOCAL_PROVIDER ? NO_ALIAS : NO_MODEL);
  const provider = providers(config);
  if (!provider) return notThere(config === LOCAL_PROVIDER ? ENGINE_OFF : 'The provider is not available.');
  const kept = config.vendor === 'typesafe' ? namedOnly(config, alias) : undefined;
  if (kept) return kept;
  const offer = { provider, model, settings };
  // Where nothing leaves, there is no place to ask about. // spec 2.4, 4.4.7
  if (config === LOCAL_PROVIDER || policy.allowedJurisdictions === undefined) return offer;
  return outside(slug, provider.jurisdiction(model), policy) ?? offer;
}

const NO_ALIAS = 'No alias with this name is configured for the organization.';

const NO_MODEL = 'The provider is not configured to offer this model.';

/** For a vendor whose models are asked for by name, on the organization's own account, or not at all. // spec 4.4.1 */
function namedOnly({ slug, keyOwnership }: ProviderConfig, alias: string | undefined): Denial | undefined {
  const denied = (message: string): Denial => {
    return { code: 'permission_denied', why: reasonOf(message), message, param: 'model' };
  };
  if (alias !== undefined) return denied(`Models of ${slug} must be called by name, not through an alias.`);
  if (keyOwnership !== 'organization') return denied(`Models of ${slug} need the organization's own key.`);
  return undefined;
}

export function isDenial(found: object): found is Denial {
  return 'why' in found;
}

/** The denial of a model that no allow-list has; `why` as `allowListReason` says. */
export function notAllowed(why: string): Denial {
  return { code: 'permission_denied', why, message: `The model is ${why}.`, param: 'model' };
}

/** The denial of a place that residency does not allow; undefined when it does. */
export function outside(slug: string, place: string, policy: ResolvedPolicy): Denial | undefined {
  const why = residencyReason(place, policy);
  if (why === undefined) return undefined;
  const message = `No allowed jurisdiction serves this request: ${slug} is ${why}.`;
  return { code: 'residency_denied', why, message, param: 'model' };
}

/** The denial of a name that does not exist. `message`: a sentence. */
export function notThere(message: string): Denial {
  return { code: 'model_not_found', why: reasonOf(message), message, param: 'model' };
}

/** A sentence as a reason within another. */
export function reasonOf(message: string): string {
  return message.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase());
}

/**
 * Why the allow-lists keep a model from this caller, in few words and with whose list it is; undefined when they don't.
 * Every list must allow it, by one of its `names` (its id, and the alias it was asked for by). // spec 5.5
 */
export function allowListReason(names: readonly string[], policy: ResolvedPolicy): string | undefined {
  return notAllowedBy(policy, (pattern) => names.some((name) => matches(pattern, name)));
}

/** As `allowListReason`, of calls that name a provider but no model: every list must allow some model of it. */
export function allowListReasonOfProvider(slug: string, policy: ResolvedPolicy): string | undefined {
  return notAllowedBy(policy, (pattern) => pattern.startsWith(`${slug}/`));
}

function notAllowedBy({ allowedModels }: ResolvedPolicy, allows: (pattern: string) => boolean): string | undefined {
  for (const { models, from } of allowedModels) if (!models.some(allows)) return `not on the allow-list of ${from}`;
  return undefined;
}

/** Why residency keeps a place from this caller, in few words and with whose rule it is; undefined when it doesn't. // spec 7.1 */
export function residencyReason(place: string, policy: ResolvedPolicy): string | undefined {
  const { allowedJurisdictions: allowed, origins } = policy;
  if (allowed === undefined || takesIn(allowed, place)) return undefined;
  const rules = origins.filter(({ field }) => field === 'residency.allowedJurisdictions').map(({ from }) => from);
  const places = allowed.size === 0 ? 'none is allowed' : `allowed are ${[...allowed].sort().join(', ')}`;
  return `in ${place}, ${places} (${rules.join('; ')})`;
}

/** Whether a pattern, in which `*` stands for any text, fits an id. */
export function matches(pattern: string, model: string): boolean {
  if (!pattern.includes('*')) return pattern === model;
  const parts = pattern.split('*');
  const last = parts.pop()!;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = model.indexOf(part, at);
    if (found < 0 || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
