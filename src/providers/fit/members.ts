import type { Traits } from '#/wire/hub/traits.ts';
import type { FamilyRules } from '#/vendors/rules.ts';
import type { Fitting } from './fitting.ts';

/** Drops the top-level members that a vendor or a model does not take, and gives the others the vendor's names. */
export function fitMembers(fitting: Fitting, rules: FamilyRules, rejects: Traits['rejects']): void {
  const { members, refuses = [], names = {}, tiers, foreignTiers = {} } = rules;
  for (const [from, to] of Object.entries(names)) fitting.rename(from, to);
  for (const name of refuses) fitting.drop(name);
  for (const { key } of fitting.root.members) {
    const name = key.value;
    const refused = members !== undefined && !members.has(name) && !Object.hasOwn(names, name);
    if (refused || rejects.has(name)) fitting.drop(name);
  }
  if (tiers) fitTier(fitting, tiers);
  const asked = fitting.value('service_tier');
  if (typeof asked === 'string' && Object.hasOwn(foreignTiers, asked)) {
    fitting.set('service_tier', JSON.stringify(foreignTiers[asked]));
  }
}

function fitTier(fitting: Fitting, tiers: Readonly<Record<string, string>>): void {
  const asked = fitting.value('service_tier');
  if (typeof asked !== 'string') return;
  const tier = Object.hasOwn(tiers, asked) ? tiers[asked] : undefined;
  if (tier === undefined) fitting.drop('service_tier');
  else if (tier !== asked) fitting.set('service_tier', JSON.stringify(tier));
}
