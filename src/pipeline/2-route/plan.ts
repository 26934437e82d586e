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
    throw new GatewayError('model_not_prefixed', 'The model must be provider-prefixed: <provider>/<model>.', { param: 'model' });
  }
  const { policy, organization } = call.key.workload;
  const denied = allowListReason(model, policy);
  if (denied) throw new GatewayError('permission_denied', denied, { param: 'model' });
  const slug = model.slice(0, slash);
  const config = organization.providers.get(slug);
  if (!config) throw notFound(`No provider ${JSON.stringify(slug)} is configured for this organization.`);
  const outside = residencyReason(config, policy);
  if (outside) throw new GatewayError('residency_denied', outside, { param: 'model' });
  const name = model.slice(slash + 1);
  const settings = config.models.get(name);
  if (config.models.size > 0 && !settings) throw notFound(`Provider ${JSON.stringify(slug)} does not offer this model here.`);
  const provider = providers(config);
  if (!provider?.speaks.includes(call.codec.family)) {
    throw notFound(`Provider ${JSON.stringify(slug)} cannot be reached through this surface.`);
  }
  return [{ provider, model: name, settings }];
}

function notFound(message: string): GatewayError {
  return new GatewayError('model_not_found', message, { param: 'model' });
}
