import { BadRequestShape } from '#/wire/hub/codec.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';

/** Most pictures of one request. */
export const MAX_IMAGES = 10;
/** Most seconds of video of one request. */
export const MAX_VIDEO_SECONDS = 120;

/** Members that decide where a passthrough call goes or what it is billed by. */
export const DECIDING: readonly string[] = ['model', 'n', 'seconds'];

/** How many pictures or seconds are asked for. Throws `BadRequestShape` for a count that others could read otherwise. */
export function countsOf(
  { surface }: Pick<PassthroughCall, 'surface'>,
  body: JsonObject,
): { readonly images: number; readonly seconds: number | undefined } {
  return {
    images: (surface === 'images' ? count(body, 'n', MAX_IMAGES) : undefined) ?? 1,
    seconds: surface === 'videos' ? count(body, 'seconds', MAX_VIDEO_SECONDS) : undefined,
  };
}

/** Forms have no numbers, only the texts of them. */
function count(body: JsonObject, name: string, most: number): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && /^[0-9]{1,6}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number > 0 && number <= most) return number;
  throw new BadRequestShape(`${name} must be a whole number from 1 to ${most}`, name);
}

/** Members that say how long an answer may be. */
const CEILINGS = ['max_tokens', 'max_output_tokens', 'max_completion_tokens'];
const MOST_ANSWERS = 128;

/** The most output tokens that a body asks for, in all of its answers; undefined where it does not say. */
export function outputTokensOf(body: JsonObject): number | undefined {
  const told = CEILINGS.map((name) => body[name]).filter((value) => typeof value === 'number' && value > 0);
  if (told.length === 0) return undefined;
  const { n } = body;
  const answers = typeof n === 'number' && n > 1 ? Math.min(Math.ceil(n), MOST_ANSWERS) : 1;
  return Math.min(Math.ceil(Math.max(...(told as number[]))) * answers, Number.MAX_SAFE_INTEGER);
}
