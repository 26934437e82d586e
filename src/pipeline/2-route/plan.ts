import type { ModelConfig, ProviderConfig } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import type { Call } from '#pipeline/call.ts';
import type { Provider } from '#ports/provider.ts';
import { allowListReason, residencyReason } from './policy.ts';

/** One way to serve a call: a provider and the id it knows the model by. */
export interface Candidate {
  readonly provider: Provider;
  readonly model: string;
  /** What the configuration says of the model, if anything. */
  readonly settings: ModelConfig | undefined;
}

/** Candidates in the order they are tried; never empty. */
export type Plan = readonly [Candidate, ...Candidate[]];

/** Gives a configured provider its way out; undefined when nothing here speaks its protocol. */
export type Providers = (config: ProviderConfig) => Provider | undefined;

/**
 * Decides which targets may serve a call: `<provider>/<model>` pins one. // spec 4.5.1, 5.5, 7.1
 * Throws `model_not_prefixed`, `model_not_found`, `permission_denied` or `residency_denied`, each with the reason.
 */
export function plan(call: Call, providers: Providers): Plan {
  const { model } = call.ask;
  const slash = model.indexOf('/');
  if (slash <= 0 || slash === model.length - 1) {
    throw new GatewayError('model_not_prefixed', 'The model must be provider-prefixed: <provider>/<model>.', {
      param: 'model',
    });
  }
  const { policy, organization } = call.key.workload;
  const denied = allowListReason(model, policy);
  if (denied) throw new GatewayError('permission_denied', denied, { param: 'model' });
  const slug = model.slice(0, slash);
  const config = organization.providers.get(slug);
  if (!config) throw notFound('No provider of this name is configured for the organization.');
  const outside = residencyReason(config, policy);
  if (outside) throw new GatewayError('residency_denied', outside, { param: 'model' });
  const name = model.slice(slash + 1);
  const settings = config.models.get(name);
  if (config.models.size > 0 && !settings) throw notFound('The provider does not offer this model here.');
  const provider = providers(config);
  if (!provider?.speaks.includes(call.codec.family)) {
    throw notFound('The provider cannot be reached through this surface.');
  }
  refuseDearTier(call, config);
  return [{ provider, model: name, settings }];
}

const ORDINARY_TIERS = new Set(['auto', 'default', 'flex', 'standard_only']);

/** On a managed account a tier that costs more than is held is not passed on. // spec 7.1 */
function refuseDearTier(call: Call, { keyOwnership }: ProviderConfig): void {
  const tier = call.document.body['service_tier'];
  if (keyOwnership !== 'managed' || tier === undefined || tier === null) return;
  if (typeof tier === 'string' && ORDINARY_TIERS.has(tier)) return;
  const message = `service_tier must be one of ${[...ORDINARY_TIERS].join(', ')} on a managed provider.`;
  throw new GatewayError('invalid_request', message, { param: 'service_tier' });
}

function notFound(message: string): GatewayError {
  return new GatewayError('model_not_found', message, { param: 'model' });
}
