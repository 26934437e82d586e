import { decideBySystemOne, decidingFamilies, fitDecisions } from './base/decisions.ts';
import { readFailure } from './http/failure.ts';
import { configured, httpExit } from './http/http-api.ts';
import type { CreateProvider } from './base/create-provider.ts';

/** Retryable beyond what the status says of itself. // wire-formats 1.2 */
const TOO_EARLY = 425;
const SYSTEM_ONE = { decides: 'systemone' } as const;

/**
 * TypeSafe: answers typed questions in a family of its own; of others decisions are turned into it. // wire-formats 10
 */
export const typesafe: CreateProvider = (config, { transport, traits }) => {
  const exit = httpExit(
    {
      base: config.url,
      authorize: (credential) => (credential ? { authorization: `Bearer ${credential.secret}` } : {}),
    },
    transport,
  );
  return {
    config,
    ...configured(config),
    families: () => decidingFamilies(SYSTEM_ONE),
    traits: (model) => traits(config, model),
    fit(document, { model }, lose) {
      fitDecisions(document, SYSTEM_ONE, `${config.slug}/${model}`, lose);
      return [];
    },
    send: (outgoing) =>
      outgoing.family === 'decisions' ? decideBySystemOne(outgoing, exit.send) : exit.send(outgoing),
    readFailure(incoming, body) {
      const failure = readFailure(incoming, body);
      return incoming.status === TOO_EARLY ? { ...failure, retryable: true } : failure;
    },
  };
};
