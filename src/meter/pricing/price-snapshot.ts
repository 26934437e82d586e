import { createHash, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { isObject } from '#/wire/document/json.ts';
import { fromTexts, periodAt, toTexts, type ListedPeriod } from './price-list.ts';

/** Where prices of a snapshot come from. */
interface SnapshotSource {
  readonly name: string;
  /** Version of a package, or SHA-256 of a file. */
  readonly revision: string;
}

/** A quantity that sources price differently. Amounts are dollars. */
export interface Difference {
  /** `<provider>/<model>`, as the snapshot names it. */
  readonly model: string;
  readonly quantity: string;
  /** The source that was believed. */
  readonly taken: string;
  /** What each source says, by its name. */
  readonly values: Readonly<Record<string, string>>;
}

/** What a snapshot holds, before it is signed. */
export interface SnapshotContent {
  /** Milliseconds since the epoch. */
  readonly builtAt: number;
  /** In the order in which they are believed. */
  readonly sources: readonly SnapshotSource[];
  /** How far sources may be apart before they are said to differ: a share, as a decimal. */
  readonly tolerance: string;
  readonly differences: readonly Difference[];
  /** By `<provider>/<model>`. */
  readonly prices: ReadonlyMap<string, readonly ListedPeriod[]>;
}

/** A snapshot whose signature was found good. */
export interface PriceSnapshot extends SnapshotContent {
  /** The first 12 hexadecimal digits of the SHA-256 of the signed text. */
  readonly id: string;
}

/** A snapshot that must not be used: its author is unknown, or it was changed since. */
export class BadSnapshot extends Error {
  override readonly name = 'BadSnapshot';
}

const VERSION = 1;

/** The file of a snapshot: RFC 8785 JSON with an Ed25519 signature over the same without it. */
export function signSnapshot(content: SnapshotContent, privateKey: KeyObject): string {
  const body = bodyOf(content);
  const value = sign(null, Buffer.from(canonicalJson(body)), privateKey).toString('base64');
  return `${canonicalJson({ ...body, signature: { key: keyId(createPublicKey(privateKey)), value } })}\n`;
}

/** Reads the file of a snapshot that one of these keys has signed. Throws BadSnapshot. */
export function readSnapshot(text: string, publicKeys: readonly KeyObject[]): PriceSnapshot {
  const { signature, ...body } = parse(text);
  if (!isObject(signature) || typeof signature['value'] !== 'string') throw new BadSnapshot('it is not signed');
  const signed = Buffer.from(canonicalJson(body));
  const value = Buffer.from(signature['value'], 'base64');
  if (!publicKeys.some((key) => verify(null, signed, key, value)))
    throw new BadSnapshot('no trusted key made its signature, or it was changed since');
  try {
    return { id: createHash('sha256').update(signed).digest('hex').slice(0, 12), ...contentOf(body) };
  } catch (error) {
    throw new BadSnapshot(`it is signed, but cannot be read: ${(error as Error).message}`);
  }
}

/** Short id of a key: the first 16 hexadecimal digits of the SHA-256 of its public half (SPKI). */
function keyId(publicKey: KeyObject): string {
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);
}

function bodyOf({ builtAt, sources, tolerance, differences, prices }: SnapshotContent): object {
  const entries = [...prices].map(([model, periods]) => [
    model,
    periods.map(({ from, daily, weekdays, usd }) => ({
      ...(from !== undefined && { from: new Date(from).toISOString() }),
      ...(daily && { daily }),
      ...(weekdays && { weekdays }),
      usd: toTexts(usd),
    })),
  ]);
  return {
    built_at: new Date(builtAt).toISOString(),
    currency: 'USD',
    differences,
    prices: Object.fromEntries(entries) as object,
    sources,
    tolerance,
    version: VERSION,
  };
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadSnapshot('it is not JSON');
  }
  if (!isObject(value)) throw new BadSnapshot('it is not a JSON object');
  return value;
}

/** Throws an Error on what no snapshot of this version says. */
function contentOf(body: Record<string, unknown>): SnapshotContent {
  if (body['version'] !== VERSION) throw new Error(`its version is not ${VERSION}`);
  if (body['currency'] !== 'USD') throw new Error('its currency is not USD');
  const { built_at: built, sources, tolerance, differences, prices } = body;
  if (!Array.isArray(sources) || !Array.isArray(differences) || !isObject(prices))
    throw new Error('a field is missing');
  return {
    builtAt: instant(built),
    sources: sources as readonly SnapshotSource[],
    tolerance: String(tolerance),
    differences: differences as readonly Difference[],
    prices: new Map(Object.entries(prices).map(([model, periods]) => [model, periodsOf(model, periods)] as const)),
  };
}

function periodsOf(model: string, periods: unknown): readonly ListedPeriod[] {
  if (!Array.isArray(periods)) throw new Error(`the prices of ${model} must be an array`);
  return periods.map((period: unknown) => {
    if (!isObject(period) || !isObject(period['usd'])) throw new Error(`${model} has a price without amounts`);
    const { from, daily, weekdays, usd } = period;
    return {
      ...(from !== undefined && { from: instant(from) }),
      ...(daily !== undefined && { daily: window(daily) }),
      ...(weekdays !== undefined && { weekdays: days(weekdays) }),
      usd: fromTexts(usd),
    };
  });
}

function instant(value: unknown): number {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) throw new Error('a time must be in RFC 3339');
  return at;
}

function window(value: unknown): readonly [number, number] {
  const [start, end] = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const isSecond = (second: unknown): second is number =>
    Number.isInteger(second) && (second as number) >= 0 && (second as number) <= 86_400;
  if (!isSecond(start) || !isSecond(end)) throw new Error('a daily window must have two times, in seconds of the day');
  return [start, end];
}

function days(value: unknown): readonly number[] {
  const listed = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const isDay = (day: unknown): day is number => Number.isInteger(day) && (day as number) >= 0 && (day as number) <= 6;
  if (listed.length === 0 || !listed.every(isDay)) throw new Error('weekdays must be days from 0 to 6');
  return listed;
}

/** The period of a model that is in force, under any of these names; undefined when none of them is known. */
export function listedAt(
  { prices }: SnapshotContent,
  names: readonly string[],
  at: number,
): (ReturnType<typeof periodAt> & { readonly name: string }) | undefined {
  for (const name of names) {
    const periods = prices.get(name);
    if (periods) return { ...periodAt(periods, at), name };
  }
  return undefined;
}
