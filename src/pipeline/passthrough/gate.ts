import type { Quantity } from '#/meter/pricing/price.ts';
import type { Target } from '#/route/plan.ts';
import type { Passage } from './passthrough.ts';

/** What opens a path that has no surface of its own. // spec 1.3 */
export interface Gate {
  /** Its first word below /v1: as policies name it, and allow-lists and price books where a call names no model. */
  readonly word: string;
  /** The table of kept objects says what the call does with them. */
  readonly isKnown: boolean;
  /** It reads, or takes back: whatever it names, nothing is used. */
  readonly isFree: boolean;
}

const NOTHING: readonly Quantity[] = [];
const OF_MODEL: readonly Quantity[] = ['tokens', 'calls'];
const OF_WORD: readonly Quantity[] = ['calls'];

/** A passage with what it is billed by: behind a gate that is known once its body is read. // spec 1.5 */
export function withQuantities(passage: Passage, model: string | undefined): Passage {
  const { gate } = passage;
  if (!gate) return passage;
  const ofModel = model === undefined ? OF_WORD : OF_MODEL;
  return { ...passage, quantities: gate.isFree ? NOTHING : ofModel };
}

/** What a call that names no model is priced as: the word of its path, in the place of a model. */
export function pricedAs(target: Target, { gate }: Passage, model: string | undefined): Target {
  return gate && model === undefined ? { ...target, model: gate.word } : target;
}
