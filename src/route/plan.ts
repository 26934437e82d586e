import type { Target } from '#/call/target.ts';
import type { AliasConfig, OrganizationConfig, ProviderConfig, ResolvedPolicy } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { estimatedInput } from '#/meter/usage-bounds.ts';
import type { PriceBook } from '#/meter/pricing/price-book.ts';
import { ENGINE_OFF } from '#/ports/documents.ts';
import type { RouterVerdict } from '#/ports/local-models.ts';
import type { UpstreamCodec } from '#/wire/hub/codec.ts';
import { DECIDING, type Family, type HubFamily } from '#/wire/document/document.ts';
import type { ToolServers } from '#/wire/request/tool-servers.ts';
import { isArray } from '#/wire/request/request-shape.ts';
import { aliasOrder } from './alias-order.ts';
import { decisionOf, type Considered, type Decision } from './decision.ts';
import { requiredCapabilitiesOf, leaveOutUnfit, type RequiredCapabilities } from './fitness.ts';
import type { RouteQuestion } from './route-question.ts';
import { isDenial, notThere, offerOf, outside, reasonOf, type Denial, type Providers } from './offer.ts';
import { chatUpstream } from '#/wire/chat/codec.ts';
import { converseUpstream } from '#/wire/converse/codec.ts';
import { geminiUpstream } from '#/wire/gemini/codec.ts';
import { messagesUpstream } from '#/wire/messages/codec.ts';
import { responsesUpstream } from '#/wire/responses/codec.ts';
import { cacheMarkers } from '#/wire/request/cache-markers.ts';
import type { Json } from '#/wire/document/json.ts';

/** What vendors list of their own models. */
export interface ListedModels {
  of(config: ProviderConfig): { readonly models: readonly string[]; readonly names: ReadonlySet<string> } | undefined;
}

export interface RouteDeps {
  readonly providers: Providers;
  readonly prices: PriceBook;
  /** Vendors' own lists of models; absent: they are not fetched. */
  readonly lists?: ListedModels;
}

/** The models to consider, before any policy is asked. */
export interface Choice {
  readonly ids: readonly string[];
  readonly alias?: AliasConfig;
  /** How the order came about, where there was one to choose. */
  readonly how?: string;
}

/** The provider of bare model ids on the messages surface, unless the organization names another. // spec 4.5.1 */
const MESSAGES_VENDOR = 'anthropic';

/**
 * What a call names: `<provider>/<model>` pins one model, `gw/<alias>` several, and a bare id is completed on the messages
 * surface. An organization's own alias goes before a local model of the same name. // spec 4.4.2, 4.5.1
 * Throws `model_not_prefixed`.
 */
export function chooseModels(question: RouteQuestion, deps: RouteDeps, verdict?: RouterVerdict): Choice {
  const { organization } = question.key.workload;
  const { model } = question.ask;
  const slash = model.indexOf('/');
  const isBare = slash < 0 && question.codec.family === 'messages';
  if (!isBare && (slash <= 0 || slash === model.length - 1)) throw notPrefixed();
  const id = isBare ? completed(model, organization) : model;
  const alias = organization.aliases.get(id);
  if (!alias) return { ids: [id] };
  const { models, how } = aliasOrder(alias, () => {
    const required = requiredBy(question, question.key.workload.policy);
    return { required, verdict, organization, prices: deps.prices, at: question.startedAt };
  });
  return { ids: models, alias, how };
}

/**
 * Decides which of the chosen models may serve a call under a policy, in the order they are tried: inside allow-lists and
 * residency, on accounts that pay for it, and as able as the ablest of them. // spec 5.5, 7.1
 */
export function decide(question: RouteQuestion, choice: Choice, policy: ResolvedPolicy, deps: RouteDeps): Decision {
  const considered: Considered[] = [];
  let targets = 0;
  for (const id of choice.ids) {
    const found = consider(id, choice.alias?.alias, question, policy, deps.providers);
    if (!isDenial(found)) targets += 1;
    considered.push({ id, found });
  }
  const fit = targets > 1 ? leaveOutUnfit(considered, requiredBy(question, policy)) : considered;
  return decisionOf(fit, choice.how, ({ provider, model, family }) => {
    const mode = family === question.codec.family ? 'verbatim' : 'translated';
    return `${family}, ${mode}, in ${provider.jurisdiction(model)}`;
  });
}

function notPrefixed(): GatewayError {
  const message = 'The model must be provider-prefixed: <provider>/<model>.';
  return new GatewayError('model_not_prefixed', message, { param: 'model' });
}

/** A model id of the messages surface with its provider: a bare one is the default provider's. // spec 4.5.1 */
export function completed(model: string, { messagesDefaultProvider }: OrganizationConfig): string {
  return model.includes('/') ? model : `${messagesDefaultProvider ?? MESSAGES_VENDOR}/${model}`;
}

/** One model as a target, or why it cannot be one. */
function consider(
  id: string,
  alias: string | undefined,
  question: RouteQuestion,
  policy: ResolvedPolicy,
  providers: Providers,
): Target | Denial {
  const { organization } = question.key.workload;
  const offer = offerOf(id, alias, { organization, policy }, providers);
  if (isDenial(offer)) return undecided(question, id, offer) ?? offer;
  const { tools, functions } = question.document.body;
  const needsTools = (tools !== undefined || functions !== undefined) && hasTools(question);
  const family = familyFor(question, offer.provider.families(offer.model, { tools: needsTools }));
  if (family === undefined) return notThere('The provider cannot be used through this endpoint.');
  const target = { ...offer, family };
  const { toolServers, ask, document } = question;
  return (
    (document.body['inference_geo'] === undefined ? undefined : askedOutside(question, target, policy)) ??
    (toolServers && toolServerDenial(toolServers, question.codec, target, policy)) ??
    (offer.provider.config.keyOwnership === 'managed' ? managedKeyDenial(question, target) : undefined) ??
    (ask.background === true ? answeredLater(target) : undefined) ??
    target
  );
}

/** An answer that comes later is fetched by its id: from who keeps it, on an account that its workloads may ask. */
function answeredLater({ family, provider: { config } }: Target): Denial | undefined {
  if (family === 'responses' && config.keyOwnership === 'organization') return undefined;
  const message = "background needs a provider with the responses protocol, on the organization's own account.";
  return { code: 'invalid_request', why: reasonOf(message), message, param: 'background' };
}

/** A decision of a local model fails without local models: another model cannot replace it. // spec 4.4.7 */
function undecided({ codec }: RouteQuestion, id: string, { code }: Denial): Denial | undefined {
  if (!DECIDING.has(codec.family) || code !== 'model_not_found' || !LOCAL_DECISIONS.has(id)) return undefined;
  return { code: 'local_model_unavailable', why: reasonOf(ENGINE_OFF), message: ENGINE_OFF, shouldRetry: false };
}

const LOCAL_DECISIONS: ReadonlySet<string> = new Set(['gw/typed', 'gw/typed/router']);

function hasTools({ document: { body } }: RouteQuestion): boolean {
  const { tools, functions } = body;
  if (tools !== undefined && isArray(tools) && tools.length > 0) return true;
  return functions !== undefined && isArray(functions) && functions.length > 0;
}

function requiredBy(question: RouteQuestion, { dlp }: ResolvedPolicy): RequiredCapabilities {
  const { ask, media, document } = question;
  // What may not leave unread goes as text or not at all: who takes files has no advantage.
  const asText = dlp.mode !== 'allow_log' && dlp.documents === 'off';
  const sent = asText ? media.filter(({ kind }) => kind !== 'file') : media;
  return requiredCapabilitiesOf(ask, sent, hasTools(question), estimatedInput(document.text, media));
}

/** The surface's own family if the provider speaks it, else the first that the hub can translate to. */
function familyFor({ codec }: RouteQuestion, families: readonly Family[]): Family | undefined {
  if (families.includes(codec.family)) return codec.family;
  return 'decodeRequest' in codec ? families.find(isHubFamily) : undefined;
}

/**
 * The messages vendor takes from the request itself where to process it: what it asks for must be allowed too. The clouds
 * that host its models are not told, and nor is anyone through the hub.
 */
function askedOutside({ document }: RouteQuestion, target: Target, policy: ResolvedPolicy): Denial | undefined {
  const { vendor, slug } = target.provider.config;
  const asked = document.body['inference_geo'];
  if (asked === null || target.family !== 'messages' || document.family !== 'messages') return undefined;
  if (vendor !== 'anthropic' && vendor !== 'custom') return undefined;
  // A place that is no jurisdiction of ours is anywhere.
  const place = typeof asked === 'string' && /^[a-z]{2}$/i.test(asked) ? asked.toUpperCase() : 'GLOBAL';
  return outside(slug, place, policy);
}

/** The families that a request can be translated to. */
export const UPSTREAM_CODECS: Readonly<Record<HubFamily, UpstreamCodec>> = {
  chat: chatUpstream,
  messages: messagesUpstream,
  responses: responsesUpstream,
  gemini: geminiUpstream,
  converse: converseUpstream,
};

export function isHubFamily(family: Family): family is HubFamily {
  return family in UPSTREAM_CODECS;
}

const ORDINARY_TIERS = new Set(['auto', 'default', 'flex', 'standard_only']);
const LONG_CONTEXT = /^context-1m/;

/**
 * What a managed account does not pay for: a dearer service tier, an hour of prompt cache, the long-context flag.
 * Nothing is sent. With the organization's own key all of it is forwarded. // spec 7.1
 */
function managedKeyDenial(question: RouteQuestion, target: Target): Denial | undefined {
  const { provider, model, family } = target;
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
function toolServerDenial(
  { param }: ToolServers,
  codec: RouteQuestion['codec'],
  { provider, family }: Target,
  policy: ResolvedPolicy,
): Denial | undefined {
  const { keyOwnership, slug } = provider.config;
  const denied = (message: string): Denial => ({ code: 'invalid_request', why: reasonOf(message), message, param });
  if (!policy.providerSideTools.has('mcp')) return denied(`${param} is not supported under this policy.`);
  if (keyOwnership !== 'organization') return denied(`${param} needs the organization's own account with ${slug}.`);
  if (family !== codec.family) return denied(`${param} cannot be translated to ${family}, the protocol of ${slug}.`);
  return undefined;
}
