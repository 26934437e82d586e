import { isObject, type Json, type JsonObject } from '../document/json.ts';
import {
  inputTokens,
  isTold,
  mediaBuckets,
  NO_USAGE,
  outputTokens,
  toldCount,
  tokenCount,
  type Usage,
} from '../answer/usage.ts';

/**
 * The usage of generated images: `{input_tokens, output_tokens}`, with the shares of text and images.
 * Output without shares counts as images. Undefined without an input. // wire-formats 5.2
 */
export function readImageUsage(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  if (!isTold(usage['input_tokens'])) return undefined;
  const input = toldCount(usage['input_tokens']);
  const made = toldCount(usage['output_tokens']);
  const inputImage = Math.min(detail(usage, 'input_tokens_details', 'image_tokens'), input);
  const output = Math.min(detail(usage, 'output_tokens_details', 'text_tokens'), made);
  return {
    ...NO_USAGE,
    input: input - inputImage,
    output,
    ...mediaBuckets({ inputImage, outputImage: made - output }),
  };
}

/** The same in these words. */
export function writeImageUsage(usage: Usage): JsonObject {
  const [input, output] = [inputTokens(usage), outputTokens(usage)];
  const { inputImage = 0 } = usage;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { text_tokens: input - inputImage, image_tokens: inputImage },
  };
}

function detail(usage: JsonObject, details: string, name: string): number {
  const held = usage[details];
  return isObject(held) ? tokenCount(held[name]) : 0;
}
