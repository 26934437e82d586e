import { takesIn } from '#/config/places.ts';
import type { ResolvedPolicy } from '#/config/snapshot.ts';

/**
 * Why the allow-lists keep a model from this caller, in few words and with whose list it is; undefined when they don't.
 * Every list must allow it, by one of its `names` (its id, and the alias it was asked for by). // spec 5.5
 */
export function allowListReason(names: readonly string[], policy: ResolvedPolicy): string | undefined {
  return notAllowedBy(policy, (pattern) => names.some((name) => matches(pattern, name)));
}

/** As `allowListReason`, of calls that name a provider but no model: every list must allow some model of it. */
export function allowListReasonOfProvider(slug: string, policy: ResolvedPolicy): string | undefined {
  return notAllowedBy(policy, (pattern) => pattern.startsWith(`${slug}/`));
}

function notAllowedBy({ allowedModels }: ResolvedPolicy, allows: (pattern: string) => boolean): string | undefined {
  for (const { models, from } of allowedModels) if (!models.some(allows)) return `not on the allow-list of ${from}`;
  return undefined;
}

/** Why residency keeps a place from this caller, in few words and with whose rule it is; undefined when it doesn't. // spec 7.1 */
export function residencyReason(place: string, policy: ResolvedPolicy): string | undefined {
  const { allowedJurisdictions: allowed, origins } = policy;
  if (allowed === undefined || takesIn(allowed, place)) return undefined;
  const rules = origins.filter(({ field }) => field === 'residency.allowedJurisdictions').map(({ from }) => from);
  const places = allowed.size === 0 ? 'none is allowed' : `allowed are ${[...allowed].sort().join(', ')}`;
  return `in ${place}, ${places} (${rules.join('; ')})`;
}

/** A pattern is an id in which `*` stands for any text. */
function matches(pattern: string, model: string): boolean {
  if (!pattern.includes('*')) return pattern === model;
  const parts = pattern.split('*');
  const last = parts.pop()!;
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = model.indexOf(part, at);
    if (found < 0 || (index === 0 && found !== 0)) return false;
    at = found + part.length;
  }
  return model.length - last.length >= at && model.endsWith(last);
}
