import type { Effort } from './canonical.ts';
import { BadRequestShape } from './codec.ts';
import type { Json } from '../document/json.ts';

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/**
 * An effort by its name; null and `default`, some models' word for what they do by themselves, are as good as absent.
 * Throws `BadRequestShape` for any other word.
 * // spec 2.2, wire-formats 2.3
 */
export function readEffort(value: Json | undefined, param: string): Effort | undefined {
  if (value === undefined || value === null || value === 'default') return undefined;
  const effort = EFFORTS.find((known) => known === value);
  if (effort === undefined) throw new BadRequestShape(`${param} must be one of ${EFFORTS.join(', ')}`, param);
  return effort;
}
