import type { Quantity } from '#/call/units.ts';
import type { Target } from '#/call/target.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import { MAX_OUTPUT_TOKENS } from '#/dispatch/passthrough/passed-answer.ts';
import type { UsageBounds } from '#/meter/usage-bounds.ts';
import type { ReadBody } from './body.ts';

const NOTHING: readonly Quantity[] = [];
const OF_MODEL: readonly Quantity[] = ['tokens', 'calls'];
const OF_WORD: readonly Quantity[] = ['calls'];

/** A passthrough call with what it is billed by: behind a gate that is known once its body is read. // spec 1.5 */
export function withQuantities(call: PassthroughCall, model: string | undefined): PassthroughCall {
  const { gate } = call;
  if (!gate) return call;
  const ofModel = model === undefined ? OF_WORD : OF_MODEL;
  return { ...call, quantities: gate.isFree ? NOTHING : ofModel };
}

/** What a call that names no model is priced as: the word of its path, in the place of a model. */
export function pricedAs(target: Target, { gate }: PassthroughCall, model: string | undefined): Target {
  return gate && model === undefined ? { ...target, model: gate.word } : target;
}

/** Worst cases of what a passthrough call may be billed by; sound is bounded by its bytes at a very low bit rate, or its words. */
export function boundsOf(
  { quantities, surface }: PassthroughCall,
  { textLength, fileLength, images, seconds, outputTokens }: ReadBody,
): Pick<UsageBounds, 'ceiling' | 'quantities' | 'reservedTokens'> {
  if (surface === 'passthrough') {
    const output = quantities.includes('tokens') ? (outputTokens ?? MAX_OUTPUT_TOKENS) : 0;
    return {
      quantities,
      ceiling: { inputTokens: textLength + fileLength, outputTokens: output },
      reservedTokens: 0,
    };
  }
  const heard = Math.ceil(fileLength / LEAST_BYTES_PER_SECOND);
  const spoken = surface === 'audio' && fileLength === 0 ? Math.ceil(textLength * MOST_SECONDS_PER_BYTE) : 0;
  return {
    quantities,
    ceiling: {
      inputTokens: textLength + heard * TOKENS_PER_SECOND + images * IMAGE_TOKENS,
      outputTokens: quantities.includes('tokens')
        ? Math.max(MAX_OUTPUT_TOKENS, spoken * TOKENS_PER_SECOND) * images
        : 0,
      images,
      seconds: surface === 'videos' ? (seconds ?? MOST_VIDEO_SECONDS) : heard + spoken,
    },
    reservedTokens: 0,
  };
}

const LEAST_BYTES_PER_SECOND = 1000;
/** The slowest voice, asked to speak at a quarter of its speed. */
const MOST_SECONDS_PER_BYTE = 0.5;
/** The longest default length of a vendor's videos. */
const MOST_VIDEO_SECONDS = 12;
const TOKENS_PER_SECOND = 25;
const IMAGE_TOKENS = 16_384;
