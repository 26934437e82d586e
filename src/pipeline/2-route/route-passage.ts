import { GatewayError } from '#errors/gateway-error.ts';
import type { Passage } from '#pipeline/passage.ts';
import { allowListReason, residencyReason } from './policy.ts';
import type { Providers, Target } from './plan.ts';

/**
 * Where a passage goes: to the provider of the model it names, or to the one that is named beside it. // design 11
 * Throws as `plan` does, and `permission_denied` for what needs the organization's own key. // spec 4.1
 */
export function routePassage(passage: Passage, id: string | undefined, providers: Providers): Target {
  const { organization, policy } = passage.key.workload;
  const slash = id?.indexOf('/') ?? -1;
  if (id !== undefined && (slash <= 0 || slash === id.length - 1)) {
    throw new GatewayError('model_not_prefixed', 'The model must be provider-prefixed: <provider>/<model>.', {
      param: 'model',
    });
  }
  const slug = id === undefined ? passage.provider : id.slice(0, slash);
  if (slug === undefined) {
    throw new GatewayError(
      'invalid_request',
      'Name the provider: in model, in x-gw-provider, or by the prefix of the id.',
      {
        param: 'x-gw-provider',
      },
    );
  }
  const denied = id === undefined ? undefined : allowListReason([id], policy);
  if (denied) throw new GatewayError('permission_denied', denied, { param: 'model' });
  const config = organization.providers.get(slug);
  const provider = config && providers(config);
  if (!config || !provider?.pass) {
    throw new GatewayError('model_not_found', 'No provider of this name serves this here.', { param: 'model' });
  }
  if (passage.ownKeyOnly && config.keyOwnership === 'managed') {
    throw new GatewayError('permission_denied', "This is served on the organization's own provider key only.");
  }
  const model = id?.slice(slash + 1) ?? '';
  const settings = config.models.get(model);
  if (id !== undefined && config.models.size > 0 && !settings) {
    throw new GatewayError('model_not_found', 'The provider does not offer this model here.', { param: 'model' });
  }
  const outside = residencyReason(slug, provider.jurisdiction(model), policy);
  if (outside) throw new GatewayError('residency_denied', outside, { param: 'model' });
  return { provider, model, settings, family: 'passthrough' };
}
