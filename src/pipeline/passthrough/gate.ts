import type { Quantity } from '#/call/units.ts';
import type { Target } from '#/call/target.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';

const NOTHING: readonly Quantity[] = [];
const OF_MODEL: readonly Quantity[] = ['tokens', 'calls'];
const OF_WORD: readonly Quantity[] = ['calls'];

/** A passage with what it is billed by: behind a gate that is known once its body is read. // spec 1.5 */
export function withQuantities(passage: PassthroughCall, model: string | undefined): PassthroughCall {
  const { gate } = passage;
  if (!gate) return passage;
  const ofModel = model === undefined ? OF_WORD : OF_MODEL;
  return { ...passage, quantities: gate.isFree ? NOTHING : ofModel };
}

/** What a call that names no model is priced as: the word of its path, in the place of a model. */
export function pricedAs(target: Target, { gate }: PassthroughCall, model: string | undefined): Target {
  return gate && model === undefined ? { ...target, model: gate.word } : target;
}
