import { canonical, isArray, isObject, isVague, refuse, told, VagueNumber, type Check } from './check.ts';
import { finite, KeywordFault, textsOf, wholeNumber, type Keyword } from './keyword.ts';
import { LinearPattern } from './linear-pattern.ts';
import { PatternFault } from './parse-pattern.ts';
import { Work } from './work.ts';

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: isArray,
  object: isObject,
};

/** Keywords about a value itself. */
export const ASSERTIONS: Readonly<Record<string, Keyword>> = {
  type: (value) => {
    const names = typeof value === 'string' ? [value] : textsOf(value);
    if (names.length === 0 || names.some((name) => !Object.hasOwn(TYPES, name)))
      throw new KeywordFault(`must be one or several of ${Object.keys(TYPES).join(', ')}`);
    return when((one) => !names.some((name) => TYPES[name]!(one)), `be of the type ${names.join(' or ')}`);
  },
  enum: (value) => {
    if (!isArray(value) || value.length === 0) throw new KeywordFault('must be a list of values');
    return oneOf(value);
  },
  const: (value) => oneOf([value]),
  minimum: (value) => ofNumber(finite(value), (one, limit) => one < limit, 'be at least'),
  maximum: (value) => ofNumber(finite(value), (one, limit) => one > limit, 'be at most'),
  exclusiveMinimum: (value) => ofNumber(finite(value), (one, limit) => one <= limit, 'be more than'),
  exclusiveMaximum: (value) => ofNumber(finite(value), (one, limit) => one >= limit, 'be less than'),
  multipleOf: (value) => {
    if (finite(value) <= 0) throw new KeywordFault('must be more than 0');
    const of = value as number;
    return (one, at, work) => {
      if (isVague(one)) throw new VagueNumber(at);
      return typeof one !== 'number' || isMultiple(one, of, work) ? undefined : refuse(at, `be a multiple of ${of}`);
    };
  },
  minLength: (value) => ofLength(wholeNumber(value), false),
  maxLength: (value) => ofLength(wholeNumber(value), true),
  pattern: (value) => {
    if (typeof value !== 'string') throw new PatternFault('must be a string');
    const pattern = new LinearPattern(value);
    return (text, at, work) =>
      typeof text !== 'string' || pattern.test(text, work) ? undefined : refuse(at, `match the pattern ${value}`);
  },
  minItems: (value) => ofSize(isArray, wholeNumber(value), false, 'items'),
  maxItems: (value) => ofSize(isArray, wholeNumber(value), true, 'items'),
  minProperties: (value) => ofSize(isObject, wholeNumber(value), false, 'members'),
  maxProperties: (value) => ofSize(isObject, wholeNumber(value), true, 'members'),
  uniqueItems: (value) => {
    if (typeof value !== 'boolean') throw new KeywordFault('must be true or false');
    return value ? unique : undefined;
  },
  required: (value) => {
    const names = textsOf(value);
    return (one, at, work) => {
      if (!isObject(one)) return undefined;
      work.spend(names.length);
      const missing = names.find((name) => !Object.hasOwn(one, name));
      return missing === undefined ? undefined : refuse(at, `have the member ${JSON.stringify(missing)}`);
    };
  },
};

function when(isAgainst: (value: unknown) => boolean, must: string): Check {
  return (value, at) => (isAgainst(value) ? refuse(at, must) : undefined);
}

function ofNumber(limit: number, isAgainst: (value: number, limit: number) => boolean, must: string): Check {
  return when((value) => typeof value === 'number' && isAgainst(value, limit), `${must} ${limit}`);
}

/** What dividing long numbers takes, in steps. */
const LONG_DIVISION = 20;

/** Exact, of the decimal digits that JSON has. The value is not vague. */
function isMultiple(value: number, of: number, work: Work): boolean {
  if (Number.isInteger(value) && Number.isSafeInteger(of)) return value % of === 0;
  work.spend(LONG_DIVISION);
  const [one, other] = [decimalOf(value), decimalOf(of)];
  const places = Math.max(one.places, other.places);
  const whole = ({ digits, places: own }: Decimal): bigint => digits * 10n ** BigInt(places - own);
  return whole(one) % whole(other) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  /** Of the digits, how many are behind the point; negative: zeros that follow them. */
  readonly places: number;
}

function decimalOf(value: number): Decimal {
  const [written = '', exponent = '0'] = String(value).split('e');
  const [before = '', behind = ''] = written.split('.');
  return { digits: BigInt(before + behind), places: behind.length - Number(exponent) };
}

/** Lengths are counted in code points, of which a text has at least half as many as units. */
function ofLength(limit: number, isMost: boolean): Check {
  const must = `have at ${isMost ? 'most' : 'least'} ${limit} characters`;
  return (value, at, work) => {
    if (typeof value !== 'string') return undefined;
    const isUnclear = isMost ? value.length > limit && value.length <= 2 * limit : value.length < 2 * limit;
    const length = isUnclear ? pointsOf(value, work) : value.length;
    return (isMost ? length > limit : length < limit) ? refuse(at, must) : undefined;
  };
}

function pointsOf(text: string, work: Work): number {
  work.spend(text.length / 16);
  let count = 0;
  for (let at = 0; at < text.length; count++) at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return count;
}

function ofSize(isSized: (value: unknown) => value is object, limit: number, isMost: boolean, what: string): Check {
  const must = `have ${isMost ? 'at most' : 'at least'} ${limit} ${what}`;
  return (value, at, work) => {
    if (!isSized(value)) return undefined;
    if (isObject(value)) work.spend(1);
    const size = isArray(value) ? value.length : Object.keys(value).length;
    if (isObject(value)) work.spend(size);
    return (isMost ? size > limit : size < limit) ? refuse(at, must) : undefined;
  };
}

function oneOf(values: readonly unknown[]): Check {
  let hasNumbers = false;
  JSON.stringify(values, (_name, value: unknown) => {
    hasNumbers ||= typeof value === 'number';
    if (isVague(value)) throw new KeywordFault('must have no number beyond 2^53, which JSON readers take for others');
    return value;
  });
  const allowed = new Set(values.map((value) => canonical(value, new Work(Infinity), () => undefined)));
  const longest = values.reduce<number>(
    (most, value) => (typeof value === 'string' ? Math.max(most, value.length) : most),
    0,
  );
  const must = values.length === 1 ? `be ${told(values)}` : `be one of ${told(values)}`;
  return (value, at, work) => {
    const isTooLong = typeof value === 'string' && value.length > longest;
    const onVague = (): void => {
      // A list without numbers has no value that a vague number equals.
      if (hasNumbers) throw new VagueNumber(at);
    };
    return !isTooLong && allowed.has(canonical(value, work, onVague)) ? undefined : refuse(at, must);
  };
}

const unique: Check = (value, at, work) => {
  if (!isArray(value)) return undefined;
  let hasVague = false;
  const different = new Set(value.map((item) => canonical(item, work, () => (hasVague = true))));
  if (different.size === value.length) return undefined;
  if (hasVague) throw new VagueNumber(at);
  return refuse(at, 'have no item twice');
};
