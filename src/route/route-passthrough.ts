import type { OrganizationConfig, ProviderConfig, ResolvedPolicy, Snapshot } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import { aliasOrder } from './alias-order.ts';
import { decisionOf, type Considered, type Decision } from './decision.ts';
import {
  allowListReason,
  allowListReasonOfProvider,
  isDenial,
  notAllowed,
  notThere,
  offerOf,
  outside,
  type Denial,
  type Providers,
} from './offer.ts';
import type { Offer, Target } from '#/call/target.ts';
import type { Choice, RouteDeps } from './plan.ts';

/** What a passthrough call asks of its route. */
export type PassthroughQuestion = Pick<PassthroughCall, 'key' | 'provider' | 'ownKeyOnly' | 'startedAt' | 'gate'> &
  Partial<Pick<PassthroughCall, 'snapshot'>>;

/**
 * The models that a passthrough call names: a model, an alias, or a provider without either. // design 11
 * Throws `model_not_prefixed` or `invalid_request`.
 */
export function choosePassthroughModels(
  question: PassthroughQuestion,
  named: string | undefined,
  { prices }: RouteDeps,
): Choice {
  const { organization } = question.key.workload;
  const id = besideProvider(question, named);
  if (id === undefined) {
    if (question.provider !== undefined) return { ids: [question.provider] };
    const message = 'Name the provider in model, in x-gw-provider, or by the prefix of the id.';
    throw new GatewayError('invalid_request', message, { param: 'x-gw-provider' });
  }
  const slash = id.indexOf('/');
  if (slash <= 0 || slash === id.length - 1) {
    throw new GatewayError('model_not_prefixed', 'The model must be provider-prefixed: <provider>/<model>.', {
      param: 'model',
    });
  }
  const alias = organization.aliases.get(id);
  if (!alias) return { ids: [id] };
  const { models, how } = aliasOrder(alias, () => {
    return { required: UNREAD, verdict: undefined, organization, prices, at: question.startedAt };
  });
  return { ids: models, alias, how };
}

/** Behind a gate, the provider in the header becomes the prefix of the model. */
function besideProvider({ gate, provider }: PassthroughQuestion, model: string | undefined): string | undefined {
  if (!gate || provider === undefined || model === undefined || model.startsWith(`${provider}/`)) return model;
  return `${provider}/${model}`;
}

/** Nothing is known of a body that streams by: its models are tried by priority. */
const UNREAD = {
  images: false,
  audio: false,
  documents: false,
  tools: false,
  json: 'none',
  inputTokens: Infinity,
  outputTokens: 0,
} as const;

/** Decides where a passthrough call goes under a policy: at most one target, since its body cannot be sent twice. // spec 4.1 */
export function decidePassthrough(
  question: PassthroughQuestion,
  hasModel: boolean,
  choice: Choice,
  policy: ResolvedPolicy,
  { providers }: RouteDeps,
): Decision {
  let taken = false;
  const considered = choice.ids.map((id): Considered => {
    const offer = hasModel
      ? offerOf(id, choice.alias?.alias, { organization: question.key.workload.organization, policy }, providers)
      : offerOfProvider(id, question, policy, providers);
    const found = isDenial(offer) ? offer : (closed(question, offer, policy) ?? passable(question, offer));
    if (isDenial(found) || !taken) {
      taken ||= !isDenial(found);
      return { id, found };
    }
    return { id, found, leftOut: 'a body that streams can be sent only once' };
  });
  return decisionOf(considered, choice.how, ({ provider, model }) => {
    const what = question.gate ? `/${question.gate.word} passed on` : 'passed on';
    return `${what}, in ${provider.jurisdiction(model)}`;
  });
}

/** A provider for a call that names no model: some model of it must be allowed, and the provider's own place. */
function offerOfProvider(
  slug: string,
  { key, gate }: PassthroughQuestion,
  policy: ResolvedPolicy,
  providers: Providers,
): Offer | Denial {
  // Which models a call reaches that names none is not known: lists must have the path itself.
  const unlisted =
    gate && !gate.isFree ? allowListReason([`${slug}/${gate.word}`], policy) : allowListReasonOfProvider(slug, policy);
  if (unlisted) return notAllowed(unlisted);
  const config = key.workload.organization.providers.get(slug);
  const provider = config && providers(config);
  if (!provider) return NOT_SERVED;
  return outside(slug, provider.jurisdiction(''), policy) ?? { provider, model: '', settings: undefined };
}

const NOT_SERVED = notThere('No provider with this name serves this endpoint.');

function passable({ ownKeyOnly }: PassthroughQuestion, offer: Offer): Target | Denial {
  if (!offer.provider.pass) return NOT_SERVED;
  if (ownKeyOnly && offer.provider.config.keyOwnership === 'managed') {
    const message = "This endpoint needs the organization's own provider key.";
    return { code: 'permission_denied', why: "needs the organization's own key", message };
  }
  return { ...offer, family: 'passthrough' };
}

/** Why policy, or whose the account is, keeps a path closed; undefined where it is open. // spec 1.3, 4.5.5 */
function closed(
  { gate, key, snapshot }: PassthroughQuestion,
  offer: Offer,
  policy: ResolvedPolicy,
): Denial | undefined {
  if (!gate) return undefined;
  const { config } = offer.provider;
  // The messages vendor's other paths are not served.
  if (config.protocol === 'messages') return NOT_SERVED;
  const { word } = gate;
  if (!policy.passthrough.has(word)) {
    const why = `${word} is not in passthrough`;
    const message = `/v1/${word} is not allowed: add ${word} to passthrough in the Policy.`;
    return { code: 'permission_denied', why, message };
  }
  const { organization } = key.workload;
  if (gate.isKnown || (organization.sharedObjects === 'organization' && isAlone(organization, config, snapshot))) {
    return undefined;
  }
  const message =
    `The gateway does not know which objects /v1/${word} stores: it needs an account that only one organization uses, ` +
    'with sharedObjects: Organization.';
  return { code: 'permission_denied', why: `${word} may reach objects of others`, message };
}

/** Providers that several organizations reach, by snapshot, so that calls do not iterate over all of them. */
const TOGETHER = new WeakMap<Snapshot, ReadonlySet<string>>();

function isAlone({ id }: OrganizationConfig, config: ProviderConfig, snapshot: Snapshot | undefined): boolean {
  if (!snapshot || !snapshot.organizations.has(id)) return false;
  let together = TOGETHER.get(snapshot);
  if (!together) TOGETHER.set(snapshot, (together = reachedByMany(snapshot)));
  return !together.has(config.id);
}

function reachedByMany({ organizations }: Snapshot): ReadonlySet<string> {
  const seen = new Set<string>();
  const many = new Set<string>();
  for (const { providers } of organizations.values())
    for (const { id } of providers.values()) (seen.has(id) ? many : seen).add(id);
  return many;
}
