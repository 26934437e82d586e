import type { UpstreamCodec } from '../hub/codec.ts';
import { decodeAnswer } from './decode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { ConverseStreamDecoder } from './decode-stream.ts';

/** The Converse family, which Bedrock speaks for every vendor's models and no client does. */
export const converseUpstream: UpstreamCodec = {
  family: 'converse',
  encodeRequest,
  decodeAnswer,
  streamDecoder: () => new ConverseStreamDecoder(),
};
