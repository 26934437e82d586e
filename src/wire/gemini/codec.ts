import type { UpstreamCodec } from '../hub/codec.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeAnswer } from './decode-answer.ts';
import { GeminiEventReader } from './event-reader.ts';

/** The Gemini family (`generateContent`), which providers speak and no client does. */
export const geminiUpstream: UpstreamCodec = {
  family: 'gemini',
  encodeRequest,
  decodeAnswer,
  eventReader: () => new GeminiEventReader(),
};
