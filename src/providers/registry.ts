import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { ProviderConfig } from '#/config/snapshot.ts';
import type { Provider } from '#/ports/provider.ts';
import { VENDORS, type CodedVendorId, type VendorId } from '#/vendors/list.ts';
import { isCompatible } from '#/vendors/vendor.ts';
import { messagesProvider } from './anthropic.ts';
import { azure } from './azure/azure.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { traitsOf } from './catalogue/traits-of.ts';
import { compatible } from './base/compatible.ts';
import type { CreateProvider } from './base/create-provider.ts';
import { custom } from './custom.ts';
import { deepseek } from './deepseek.ts';
import { gemini } from './gemini/gemini.ts';
import type { Transport } from './http/transport.ts';
import { mistral } from './mistral/mistral.ts';
import { typesafe } from './typesafe.ts';
import { vertex } from './vertex/vertex.ts';

/** Vendors with code: those that are not compatible, and compatible ones with quirks. */
const CODED: Readonly<Record<CodedVendorId, CreateProvider> & Partial<Record<VendorId, CreateProvider>>> = {
  anthropic: messagesProvider,
  azure,
  bedrock,
  custom,
  deepseek,
  gemini,
  mistral,
  typesafe,
  vertex,
};

/** Makes the provider of any vendor: by its code, else by its rules. */
const createProvider: CreateProvider = (config, deps) => {
  const vendor = VENDORS[config.vendor];
  const create = CODED[config.vendor] ?? (isCompatible(vendor) ? compatible(vendor) : undefined);
  if (!create) throw new TypeError(`src/providers/registry.ts has no code for the vendor ${config.vendor}`);
  return create(config, deps);
};

/** Gives the provider of each configuration, made once. `local`: what the gateway answers itself; absent: nothing. */
export function createProviders(
  transport: Transport,
  local?: Provider,
): (config: ProviderConfig) => Provider | undefined {
  const made = new WeakMap<ProviderConfig, Provider>();
  return (config) => {
    if (config === LOCAL_PROVIDER) return local;
    const known = made.get(config);
    if (known) return known;
    const provider = createProvider(config, { transport, traits: traitsOf });
    made.set(config, provider);
    return provider;
  };
}
