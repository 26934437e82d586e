import type { ProviderConfig } from '#/config/snapshot.ts';
import type { Provider } from '#/ports/provider.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { Transport } from '../http/transport.ts';

/** What a provider is made with. */
export interface ProviderDeps {
  readonly transport: Transport;
  /** Traits of a model at this provider: the catalogue, overridden by the configuration. */
  readonly traits: (config: ProviderConfig, model: string) => Traits;
}

/** Makes one configured provider. Throws a TypeError when the configuration lacks what its vendor needs. */
export type CreateProvider = (config: ProviderConfig, deps: ProviderDeps) => Provider;
