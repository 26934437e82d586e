import type { UpstreamCodec } from '../hub/codec.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeAnswer, GeminiStreamDecoder } from './decode-stream.ts';

/** The Gemini family (`generateContent`), which providers speak and no client does. */
export const geminiUpstream: UpstreamCodec = {
  family: 'gemini',
  encodeRequest,
  decodeAnswer,
  streamDecoder: () => new GeminiStreamDecoder(),
};
