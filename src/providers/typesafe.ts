import type { ProviderConfig } from '#config/snapshot.ts';
import { UpstreamFault, type Provider } from '#ports/provider.ts';
import { readFailure } from './failure.ts';
import { configured } from './http-exit.ts';
import type { Vendor, VendorDeps } from './vendor.ts';

/** Retryable beyond what the status says of itself. // wire-formats 1.2 */
const TOO_EARLY = 425;

/**
 * TypeSafe: answers typed questions, which is no family of the hub, so no model is served through it.
 * // wire-formats 10
 */
export const typesafe: Vendor = {
  id: 'typesafe',
  create(config: ProviderConfig, { traits }: VendorDeps): Provider {
    return {
      config,
      ...configured(config),
      families: () => [],
      traits: (model) => traits(config, model),
      fit: () => [],
      send: () => Promise.reject(new UpstreamFault('protocol', 'the provider serves no family of models')),
      readFailure(incoming, body) {
        const failure = readFailure(incoming, body);
        return incoming.status === TOO_EARLY ? { ...failure, retryable: true } : failure;
      },
    };
  },
};
