import type { AliasConfig, ModelConfig, OrganizationConfig, ProviderConfig } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import type { Call } from '#pipeline/call.ts';
import type { Provider } from '#ports/provider.ts';
import type { Family } from '#wire/document.ts';
import { isHubFamily } from './exits.ts';
import { refuseOnManagedKey } from './managed-key.ts';
import { allowListReason, residencyReason } from './policy.ts';

/** One way to serve a call: a provider, the id it offers the model by, and the family it is asked in. */
export interface Target {
  readonly provider: Provider;
  /** Model id without the provider. */
  readonly model: string;
  /** What the configuration says of the model, if anything. */
  readonly settings: ModelConfig | undefined;
  /** The surface's own family where the provider speaks it for this model; else one to translate to. */
  readonly family: Family;
}

/** Gives a configured provider its way out; undefined when it cannot be made. */
export type Providers = (config: ProviderConfig) => Provider | undefined;

/** The provider of bare model ids on the messages surface, unless the organization names another. // spec 4.5.1 */
const MESSAGES_VENDOR = 'anthropic';

/**
 * Decides which targets may serve a call, in the order they are tried: `<provider>/<model>` pins one, `gw/<alias>` names
 * several, and a bare id is completed on the messages surface. // spec 4.5.1, 5.5, 7.1
 * Throws `model_not_prefixed`, `model_not_found`, `permission_denied`, `residency_denied` or, where a managed account
 * rules something out, `invalid_request`: each with the reason.
 */
export function plan(call: Call, providers: Providers): readonly [Target, ...Target[]] {
  const { organization } = call.key.workload;
  const model = fullId(call);
  const alias = organization.aliases.get(model);
  const targets: Target[] = [];
  let refusal: GatewayError | undefined;
  for (const id of alias ? order(alias) : [model]) {
    try {
      const target = resolve(id, alias?.alias, call, providers);
      refuseOnManagedKey(call, target);
      targets.push(target);
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      // The first reason is told, but one that policy gives goes before one that configuration gives.
      if (refusal === undefined || (refusal.status === 404 && thrown.status !== 404)) refusal = thrown;
    }
  }
  const [first, ...rest] = targets;
  if (!first) throw refusal ?? notFound('No model of this name is offered here.');
  return [first, ...rest];
}

function fullId(call: Call): string {
  const { model } = call.ask;
  const slash = model.indexOf('/');
  if (slash > 0 && slash < model.length - 1) return model;
  if (slash < 0 && call.codec.family === 'messages') return completed(model, call.key.workload.organization);
  throw new GatewayError('model_not_prefixed', 'The model must be provider-prefixed: <provider>/<model>.', {
    param: 'model',
  });
}

/** A model id of the messages surface with its provider: a bare one is the default provider's. // spec 4.5.1 */
export function completed(model: string, { messagesDefaultProvider }: OrganizationConfig): string {
  return model.includes('/') ? model : `${messagesDefaultProvider ?? MESSAGES_VENDOR}/${model}`;
}

/** One pinned model as a target, or why it cannot be one. Through an alias, the alias being allowed is enough. */
function resolve(id: string, alias: string | undefined, call: Call, providers: Providers): Target {
  const { policy, organization } = call.key.workload;
  const denied = allowListReason(alias === undefined ? [id] : [alias, id], policy);
  if (denied) throw new GatewayError('permission_denied', denied, { param: 'model' });
  const slash = id.indexOf('/');
  const model = id.slice(slash + 1);
  const config = organization.providers.get(id.slice(0, slash));
  if (!config) throw notFound('No provider of this name is configured for the organization.');
  const settings = config.models.get(model);
  if (config.models.size > 0 && !settings) throw notFound('The provider does not offer this model here.');
  const provider = providers(config);
  if (!provider) throw notFound('The provider cannot be reached.');
  const outside = residencyReason(config.slug, provider.jurisdiction(model), policy);
  if (outside) throw new GatewayError('residency_denied', outside, { param: 'model' });
  return { provider, model, settings, family: familyFor(call, provider.families(model, needsOf(call))) };
}

/** What a model's families may depend on: some offer tools in one family only. */
function needsOf({ document: { body } }: Call): { readonly tools: boolean } {
  const offered = [body['tools'], body['functions']];
  return { tools: offered.some((tools) => Array.isArray(tools) && tools.length > 0) };
}

/** The surface's own family if the provider speaks it, else the first that the hub can translate to. */
function familyFor(call: Call, families: readonly Family[]): Family {
  const own = call.codec.family;
  if (families.includes(own)) return own;
  const hub = 'decodeRequest' in call.codec ? families.find(isHubFamily) : undefined;
  if (hub === undefined) throw notFound('The provider cannot be reached through this surface.');
  return hub;
}

/** The models of an alias in the order they are tried: by priority, or drawn by weight. */
function order({ strategy, targets, routes }: AliasConfig): readonly string[] {
  if (strategy === 'weighted') return drawn(targets);
  const byPriority = targets.toSorted((a, b) => a.priority - b.priority).map(({ model }) => model);
  return strategy === 'auto' ? [...new Set([...byPriority, ...routes.map(({ model }) => model)])] : byPriority;
}

function drawn(targets: AliasConfig['targets']): readonly string[] {
  const left = [...targets];
  const models: string[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + weight, 0);
    let at = Math.random() * total;
    const index = left.findIndex(({ weight }) => (at -= weight) < 0);
    models.push(left.splice(Math.max(0, index), 1)[0]!.model);
  }
  return models;
}

function notFound(message: string): GatewayError {
  return new GatewayError('model_not_found', message, { param: 'model' });
}
