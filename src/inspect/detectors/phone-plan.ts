import metadata from 'libphonenumber-js/min/metadata';

/** Regions whose national forms are looked for unless the caller names others. */
export const DEFAULT_PHONE_REGIONS: readonly string[] = [
  'DE',
  'FR',
  'GB',
  'ES',
  'IT',
  'NL',
  'PL',
  'PT',
  'AT',
  'CH',
  'BE',
  'IE',
  'US',
];

/** Shorter national numbers are services or lack their area code. */
const SHORTEST_NATIONAL = 7;
const SHORTEST_INTERNATIONAL = 5;

/** Which runs of digits are numbers that a numbering plan can hold. */
export interface PhonePlan {
  readonly regions: ReadonlySet<string>;
  /** Digits after `+` or `00`, calling code included. */
  isInternational(digits: string): boolean;
  /** Whether the calling code exists and its numbers can be this long, in ranges not given out too. */
  hasInternationalLength(digits: string): boolean;
  /** Digits as dialled inside one of the regions, trunk prefix included. */
  isNational(digits: string): boolean;
}

/** What the library's metadata says on one region (the format of its version 4). */
interface NumberingPlan {
  readonly callingCode: string;
  readonly pattern: string;
  readonly lengths: readonly number[];
  readonly trunkPrefix: string | undefined;
}

/**
 * Compiles the numbering plans of libphonenumber's metadata. The library's own parser takes 5 to 10 µs a candidate,
 * which hostile text could repeat thousands of times; its patterns compiled once take well under one. The general
 * pattern and the lengths decide, not the ranges in use today: numbers kept for fiction and new ranges count too.
 * Throws on an unknown region.
 */
export function createPhonePlan(regions: readonly string[]): PhonePlan {
  const international = internationalPatterns();
  const plans = regions.map(readPlan);
  const national = new RegExp(plans.map((plan) => nationalPattern(plan)).join('|') || '(?!)');
  return {
    regions: new Set(regions),
    isInternational: (digits) => isInternational(digits, international.patterns),
    hasInternationalLength: (digits) => isInternational(digits, international.lengths),
    isNational: (digits) => national.test(digits),
  };
}

function isInternational(digits: string, patterns: ReadonlyMap<string, RegExp>): boolean {
  for (let length = 1; length <= 3; length += 1) {
    const held = patterns.get(digits.slice(0, length));
    if (held === undefined) continue;
    const national = digits.slice(length);
    // A trunk zero is often written after the calling code by mistake: +49 030 ….
    return held.test(national) || (national.startsWith('0') && held.test(national.slice(1)));
  }
  return false;
}

/** By calling code: what numbers look like, and how long they are. */
function internationalPatterns(): Record<'patterns' | 'lengths', ReadonlyMap<string, RegExp>> {
  const byCallingCode = new Map<string, NumberingPlan[]>();
  const all = [...Object.keys(metadata.countries).map(readPlan), ...Object.values(metadata.nonGeographic).map(planOf)];
  for (const plan of all) {
    const plans = byCallingCode.get(plan.callingCode);
    if (plans === undefined) byCallingCode.set(plan.callingCode, [plan]);
    else plans.push(plan);
  }
  const compile = (write: (plan: NumberingPlan) => string): ReadonlyMap<string, RegExp> =>
    new Map([...byCallingCode].map(([code, plans]) => [code, new RegExp(plans.map(write).join('|'))]));
  return {
    patterns: compile((plan) => pattern(plan, '', SHORTEST_INTERNATIONAL)),
    lengths: compile((plan) => pattern({ ...plan, pattern: '\\d+' }, '', SHORTEST_NATIONAL)),
  };
}

/** Countries with the trunk prefix 0 are dialled with it; others have none, or an optional one. */
function nationalPattern(plan: NumberingPlan): string {
  if (plan.trunkPrefix === undefined) return pattern(plan, '', SHORTEST_NATIONAL);
  return pattern(plan, plan.trunkPrefix === '0' ? '0' : `(?:${plan.trunkPrefix})?`, SHORTEST_NATIONAL);
}

/** The whole of a number without its prefix, of one of the plan's lengths from the shortest given. */
function pattern(plan: NumberingPlan, prefix: string, shortest: number): string {
  const lengths = plan.lengths.filter((length) => length >= shortest).map((length) => `\\d{${length}}`);
  return `^${prefix}(?=(?:${lengths.join('|')})$)(?:${plan.pattern})$`;
}

function readPlan(region: string): NumberingPlan {
  const plan = Object.hasOwn(metadata.countries, region)
    ? metadata.countries[region as keyof typeof metadata.countries]
    : undefined;
  if (plan === undefined) throw new RangeError(`unknown phone region: ${region}`);
  return planOf(plan);
}

function planOf(plan: readonly unknown[]): NumberingPlan {
  const [callingCode, , numbers, lengths, , trunkPrefix] = plan;
  if (typeof callingCode !== 'string' || typeof numbers !== 'string' || !Array.isArray(lengths)) {
    throw new TypeError('the metadata of libphonenumber-js changed its format');
  }
  return {
    callingCode,
    pattern: numbers,
    lengths: lengths as readonly number[],
    trunkPrefix: typeof trunkPrefix === 'string' ? trunkPrefix : undefined,
  };
}
