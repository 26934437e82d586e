import type { ProviderConfig, VendorId } from '#/config/snapshot.ts';
import type { Provider } from '#/ports/provider.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import type { Transport } from './http/transport.ts';

/** What a vendor's way out is made with. */
export interface VendorDeps {
  readonly transport: Transport;
  /** What is known of a model at this provider: the catalogue, overridden by the configuration. */
  readonly traits: (config: ProviderConfig, model: string) => Traits;
}

/** One vendor: a file or folder in this room, and a line in the registry. */
export interface Vendor<Id extends VendorId = VendorId> {
  readonly id: Id;
  /** Makes the way out for one configured provider. Throws when the configuration lacks what this vendor needs. */
  create(config: ProviderConfig, deps: VendorDeps): Provider;
}
