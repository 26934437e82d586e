import type { ProviderConfig } from '#config/snapshot.ts';
import type { Provider } from '#ports/provider.ts';
import { chatProvider, type ChatVendor } from './chat-provider.ts';
import type { Transport } from './transport.ts';

/** Vendors by slug, where they differ from plain chat completions. */
const CHAT_VENDORS: Readonly<Record<string, ChatVendor>> = {
  // Both answer 4xx to the option and report usage on the last chunk by themselves.
  mistral: { usageOption: false },
  ovhcloud: { usageOption: false },
};

/**
 * Gives each configured provider its way out, made once per configuration. Undefined for a protocol that no
 * codec here speaks.
 */
export function createProviders(transport: Transport): (config: ProviderConfig) => Provider | undefined {
  const made = new WeakMap<ProviderConfig, Provider>();
  return (config) => {
    const known = made.get(config);
    if (known) return known;
    if (config.protocol !== 'chat_completions' && config.protocol !== 'custom') return undefined;
    const provider = chatProvider(config, transport, CHAT_VENDORS[config.slug]);
    made.set(config, provider);
    return provider;
  };
}
