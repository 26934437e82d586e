import { createHash } from 'node:crypto';

/** Milliseconds of processor's time that a fixed piece of work takes here and now: texts are written, read and hashed. */
export function yardstick(): number {
  const before = process.cpuUsage();
  const hash = createHash('sha256');
  for (let round = 0; round < 2000; round++) {
    const rows = Array.from({ length: 50 }, (_, index) => ({
      index,
      name: `row ${round * index}`,
      kept: index % 2 === 0,
    }));
    hash.update(JSON.stringify(JSON.parse(JSON.stringify(rows))));
  }
  hash.digest();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
