import type { Effort } from './canonical.ts';
import { BadRequestShape } from './codec.ts';
import type { Json } from './json.ts';

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** An effort by its name; null is as good as absent. Throws `BadRequestShape` for any other word. // wire-formats 2.3 */
export function readEffort(value: Json | undefined, param: string): Effort | undefined {
  if (value === undefined || value === null) return undefined;
  const effort = EFFORTS.find((known) => known === value);
  if (effort === undefined) throw new BadRequestShape(`${param} must be one of ${EFFORTS.join(', ')}`, param);
  return effort;
}
