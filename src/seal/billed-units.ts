import type { Units } from '#/call/units.ts';
import { BESIDE_TOKENS, type Usage } from '#/wire/answer/usage.ts';
import type { AuditRow } from './row.ts';

/** The tokens alone. */
export function tokenCounts(usage: Usage): NonNullable<AuditRow['usage']> {
  if (usage.serviceTier === undefined && BESIDE_TOKENS.every((unit) => usage[unit] === undefined)) return usage;
  const { serviceTier: _, searches: _searches, fileSearches: _files, containers: _containers, ...tokens } = usage;
  return tokens;
}

/** What is billed beside tokens, with what a usage tells of it. */
export function withUnits(units: Units | undefined, usage: Usage): Units | undefined {
  const told = BESIDE_TOKENS.filter((unit) => usage[unit] !== undefined).map((unit) => [unit, usage[unit]] as const);
  return told.length === 0 ? units : { ...units, ...Object.fromEntries(told) };
}

/** Whether anything was used beside tokens. */
export function hasUnits(units: Units): boolean {
  return Object.values(units).some((count) => count > 0);
}
