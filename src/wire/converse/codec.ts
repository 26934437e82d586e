import type { UpstreamCodec } from '../hub/codec.ts';
import { decodeAnswer } from './decode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { ConverseEventReader } from './event-reader.ts';

/** The Converse family, which Bedrock speaks for every vendor's models and no client does. */
export const converseUpstream: UpstreamCodec = {
  family: 'converse',
  encodeRequest,
  decodeAnswer,
  eventReader: () => new ConverseEventReader(),
};
