import { canonicalJson } from '../document/canonical-json.ts';

/** Decimal numbers of more significant digits may be the same double. */
const MOST_DIGITS = 15;
/** Below it a double keeps fewer digits. */
const SMALLEST_NORMAL = 2.2250738585072014e-308;
/** A half of a pair of surrogates, which canonical JSON replaces. */
const LONE_SURROGATES = /\\u[dD][89a-fA-F]|[\ud800-\udfff]/;

/**
 * What canonical JSON does not keep of a JSON source, so that two sources with the same canonical form and the same list here
 * say the same: the document with numbers that another spelling may share a double with as they are written, and sources
 * with halves of surrogate pairs.
 */
export function unlikeCanonical(source: string): readonly string[] {
  if (source === '') return [];
  let isExact = true;
  const look = (_name: string, value: unknown, context?: { readonly source?: string }): unknown => {
    const { source: written = '' } = context ?? {};
    if (typeof value !== 'number' || keeps(value, written)) return value;
    isExact = false;
    return written;
  };
  const document: unknown = JSON.parse(source, look);
  // Each number at its place: in a plain list, two that change places are the same once members are in another order.
  const found = isExact ? [] : [canonicalJson(document)];
  return LONE_SURROGATES.test(source) ? [...found, source] : found;
}

/** Whether no other number than the written one has this double. */
function keeps(value: number, written: string): boolean {
  if (value === 0) return written === '0';
  if (!Number.isFinite(value) || Math.abs(value) < SMALLEST_NORMAL) return false;
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return false;
  const [digits = ''] = written.split(/e/i);
  return digits.replaceAll(/[-.]/g, '').replace(/^0+/, '').length <= MOST_DIGITS;
}
