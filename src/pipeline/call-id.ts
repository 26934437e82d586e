import { randomFillSync } from 'node:crypto';

const random = Buffer.alloc(10 * 256);
let used = random.length;

/** A UUIDv7: sorts by time, which is what the ledger's partitions are cut by. Randomness is drawn in bulk. */
export function newCallId(now: number): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const time = now.toString(16).padStart(12, '0');
  const hex = random.toString('hex', used, used + 10);
  used += 10;
  const variant = ((Number.parseInt(hex[3]!, 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(0, 3)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`;
}
