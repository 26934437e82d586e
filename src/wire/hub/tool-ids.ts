import { createHash } from 'node:crypto';
import type { Traits } from './traits.ts';

/** What the strictest of the families takes. // wire-formats 2.1 */
const PLAIN_ID = /^[A-Za-z0-9_-]{1,40}$/;
const NINE = /^[A-Za-z0-9]{9}$/;
const DIGEST_LENGTH = 24;

/**
 * The spelling of tool-call ids that a model takes: those it takes already stay as they are, others become a digest of
 * themselves. A call and its result, now and in every later turn, so keep finding each other.
 */
export function toolIds(rule: Traits['toolIds']): (id: string) => string {
  if (rule === 'nine') return (id) => (NINE.test(id) ? id : digest(id).slice(-9));
  return (id) => (PLAIN_ID.test(id) ? id : mintedId(id));
}

/** An id for a call that has none of its own: the same for the same seed, in letters, digits and `_`. */
export function mintedId(seed: string): string {
  return `call_${digest(seed)}`;
}

function digest(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  return BigInt(`0x${hash}`).toString(36).padStart(DIGEST_LENGTH, '0').slice(-DIGEST_LENGTH);
}
