import type { Lose, ModelRequest } from './canonical.ts';
import type { Traits } from './traits.ts';

/** Words of the two families that OpenAI made, chat and responses. */

const SERVICE_TIERS: Readonly<Record<string, string>> = {
  auto: 'auto',
  default: 'default',
  standard_only: 'default',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
  fast: 'fast',
};

const MAX_SCHEMA_NAME = 64;
const MAX_USER = 128;

/** The model's own word for the effort. A model without a switch is not asked to turn it off. // wire-formats 2.3 */
export function effortWord({ reasoning }: ModelRequest, traits: Traits, lose: Lose): string | undefined {
  if (reasoning === undefined) return undefined;
  const word = traits.reasoning.control === 'effort' ? traits.reasoning.words[reasoning.effort] : undefined;
  if (word === undefined && !(reasoning.effort === 'none' && traits.reasoning.control === 'none')) {
    lose('reasoning_effort');
  }
  return word;
}

/** The service tier under the name it has here; one that is not here is lost. // wire-formats 2.7 */
export function tierWord({ serviceTier }: ModelRequest, lose: Lose): string | undefined {
  if (serviceTier === undefined) return undefined;
  const tier = Object.hasOwn(SERVICE_TIERS, serviceTier) ? SERVICE_TIERS[serviceTier] : undefined;
  if (tier === undefined) lose('service_tier');
  return tier;
}

/** A schema's name in the letters that are taken. */
export function schemaName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_SCHEMA_NAME) || 'output';
}

/** The end user's id, which is not cut: a longer one is refused, and so lost. // wire-formats 2.2 */
export function userWord({ user }: ModelRequest, lose: Lose): string | undefined {
  if (user === undefined || user.length <= MAX_USER) return user;
  lose('user');
  return undefined;
}
