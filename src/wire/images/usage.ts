import { isObject, type Json, type JsonObject } from '../json.ts';
import { simpleUsage } from '../plain-codec.ts';
import { mediaBuckets, tokenCount, type Usage } from '../usage.ts';

/**
 * The usage of pictures that were made: `{input_tokens, output_tokens}`, with what of them is text or picture beside it.
 * Output that is not told apart is pictures. Undefined without an input. // wire-formats 5.2
 */
export function readImageUsage(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const read = simpleUsage(usage['input_tokens'], usage['output_tokens']);
  if (!read) return undefined;
  const inputImage = Math.min(detail(usage, 'input_tokens_details', 'image_tokens'), read.input);
  const output = Math.min(detail(usage, 'output_tokens_details', 'text_tokens'), read.output);
  const media = mediaBuckets({ inputImage, outputImage: read.output - output });
  return { ...read, input: read.input - inputImage, output, ...media };
}

function detail(usage: JsonObject, details: string, name: string): number {
  const held = usage[details];
  return isObject(held) ? tokenCount(held[name]) : 0;
}
