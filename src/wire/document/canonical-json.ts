/**
 * RFC 8785 text of any JSON value. Undefined members are left out; lone surrogates, which RFC 8785 has no form for,
 * become U+FFFD. Throws RangeError on a number that JSON cannot hold.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.toWellFormed());
    case 'number':
      return JSON.stringify(finite(value));
    case 'boolean':
      return String(value);
    case 'object':
      if (value === null) return 'null';
      return Array.isArray(value) ? `[${value.map(canonicalJson).join(',')}]` : canonicalObject(value);
    default:
      throw new TypeError(`no JSON form for a ${typeof value}`);
  }
}

/** The number itself. Throws RangeError when JSON cannot hold it. */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError('JSON holds finite numbers only');
  return value;
}

function canonicalObject(value: object): string {
  // The default order compares UTF-16 code units, as RFC 8785 asks.
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => [name.toWellFormed(), member as unknown] as const)
    .sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
}

/** As `finite`, of a number that may be missing. */
export function finiteIfAny(value: number | undefined): number | undefined {
  return value === undefined ? undefined : finite(value);
}

/** Zero is left out, so that rows keep the form they had before the amount was counted. */
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
