import { randomBytes } from 'node:crypto';

/** Hexadecimal digits of the random part of an id. */
const DIGITS = 20;
let random = '';
let used = 0;

/** A UUIDv7: sorts by time, which is what the ledger's partitions are cut by. Randomness is drawn in bulk. */
export function newCallId(now: number): string {
  if (used === random.length) {
    random = randomBytes((DIGITS / 2) * 256).toString('hex');
    used = 0;
  }
  const time = now.toString(16).padStart(12, '0');
  const hex = random.slice(used, used + DIGITS);
  used += DIGITS;
  const variant = '89ab'[Number.parseInt(hex[3]!, 16) & 3]!;
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`;
}
