import { finite } from '#/wire/document/canonical-json.ts';

/** As `finite`, of a number that may be missing. */
export function finiteIfAny(value: number | undefined): number | undefined {
  return value === undefined ? undefined : finite(value);
}

/** What there is none of is left out, so that rows keep the form they had before it was counted. */
export function amountIfAny(amount: number | undefined): number | undefined {
  return amount === undefined || amount === 0 ? undefined : finite(amount);
}

/** A copy ordered by name, where `keepsOrder` is true of every name. */
export function orderedCounts(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const names = Object.keys(counts);
  const sorted: Record<string, number> = {};
  for (const name of inOrder(names) ? names : names.toSorted()) sorted[name] = finite(counts[name]!);
  return sorted;
}

/** Whether a JavaScript object keeps a member of this name where it was put. */
export function keepsOrder(name: string): boolean {
  const first = name.charCodeAt(0);
  return (first < 48 || first > 57) && name !== '__proto__';
}

function inOrder(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at++) if (names[at - 1]! > names[at]!) return false;
  return true;
}
