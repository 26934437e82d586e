import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { ProviderConfig, VendorId } from '#/config/snapshot.ts';
import type { Provider } from '#/ports/provider.ts';
import { anthropic } from './anthropic.ts';
import { azure } from './azure/azure.ts';
import { bedrock } from './bedrock/bedrock.ts';
import { traitsOf } from './catalogue/traits-of.ts';
import { cerebras } from './cerebras.ts';
import { custom } from './custom.ts';
import { deepseek } from './deepseek.ts';
import { fireworks } from './fireworks.ts';
import { gemini } from './gemini/gemini.ts';
import { groq } from './groq.ts';
import { ionos } from './ionos.ts';
import { mistral } from './mistral/mistral.ts';
import { nebius } from './nebius.ts';
import { openai } from './openai.ts';
import { ovhcloud } from './ovhcloud.ts';
import { scaleway } from './scaleway.ts';
import { together } from './together.ts';
import type { Transport } from './http/transport.ts';
import { typesafe } from './typesafe.ts';
import type { Vendor } from './vendor.ts';
import { vertex } from './vertex/vertex.ts';
import { xai } from './xai.ts';

/** The way out to each vendor that configuration knows: one without a way out does not compile. */
export const WAYS_OUT: { readonly [Id in VendorId]: Vendor<Id> } = {
  openai,
  azure,
  anthropic,
  bedrock,
  gemini,
  vertex,
  mistral,
  deepseek,
  xai,
  groq,
  together,
  fireworks,
  cerebras,
  scaleway,
  ovhcloud,
  ionos,
  nebius,
  typesafe,
  custom,
};

/**
 * Gives each configured provider its way out, made once per configuration. Undefined for a vendor that has none here.
 * `local`: what the gateway answers itself; absent: nothing.
 */
export function createProviders(
  transport: Transport,
  local?: Provider,
): (config: ProviderConfig) => Provider | undefined {
  const made = new WeakMap<ProviderConfig, Provider>();
  return (config) => {
    if (config === LOCAL_PROVIDER) return local;
    const known = made.get(config);
    if (known) return known;
    const provider = WAYS_OUT[config.vendor].create(config, { transport, traits: traitsOf });
    made.set(config, provider);
    return provider;
  };
}
