import type { ResolvedPolicy } from '#config/snapshot.ts';

const EU_MEMBERS = new Set([
  'AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU', 'IE', 'IT', 'LT', 'LU', 'LV', 'MT',
  'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK',
]); // prettier-ignore

/**
 * Why the allow-lists keep a model from this caller, or undefined when they don't. Every list must allow it, by one of
 * its `names` (its id, and the alias it was asked for by). // spec 5.5
 */
export function allowListReason(names: readonly string[], policy: ResolvedPolicy): string | undefined {
  for (const list of policy.allowedModels) {
    if (list.length > 0 && !list.some((pattern) => names.some((name) => matches(pattern, name)))) {
      return `The model is not on the allow-list of this key's workload.`;
    }
  }
  return undefined;
}

/** Why residency keeps a provider from this caller, or undefined when it doesn't. `EU` allows its member states. // spec 7.1 */
export function residencyReason(slug: string, jurisdiction: string, policy: ResolvedPolicy): string | undefined {
  const allowed = policy.allowedJurisdictions;
  if (allowed === undefined || allowed.has(jurisdiction)) return undefined;
  if (allowed.has('EU') && EU_MEMBERS.has(jurisdiction)) return undefined;
  return `No allowed jurisdiction serves this request: ${slug} is in ${jurisdiction}, allowed are ${[...allowed].sort().join(', ')}.`;
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
