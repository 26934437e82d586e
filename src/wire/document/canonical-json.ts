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

const NOT_FINITE = 'JSON holds finite numbers only';

/** The number itself. Throws RangeError when JSON cannot hold it. */
function finite(value: number): number {
  if (!Number.isFinite(value)) throw new RangeError(NOT_FINITE);
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

/** Throws what `finite` throws where any of these is not finite; asked where their sum is not. */
export function refuseNonFinite(...numbers: readonly number[]): void {
  for (const number of numbers) finite(number);
}

/** A copy ordered by name, unless `LOSES_ORDER` finds a name. */
export function orderedCounts(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const names = Object.keys(counts);
  let isOrdered = true;
  for (let at = 1; at < names.length; at++) isOrdered &&= names[at - 1]! <= names[at]!;
  const sorted: Record<string, number> = {};
  for (const name of isOrdered ? names : names.toSorted()) {
    const count = counts[name]!;
    if (!Number.isFinite(count)) throw new RangeError(NOT_FINITE);
    sorted[name] = count;
  }
  return sorted;
}

/** Names of members that a JavaScript object may not keep where they were put. */
export const LOSES_ORDER = /^(?:\d|$|__proto__$)/;
