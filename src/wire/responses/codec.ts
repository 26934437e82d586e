import type { ClientCodec, UpstreamCodec } from '../hub/codec.ts';
import { decodeAnswer } from './decode-answer.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { ResponsesStreamDecoder } from './decode-stream.ts';
import { ResponsesStreamEncoder } from './encode-stream.ts';
import { contents } from './read-contents.ts';
import { ask } from './read-request.ts';
import { answerLeaves, readAnswer } from './read-answer.ts';
import { speakers } from './read-speakers.ts';
import { ResponsesStreamReader } from './read-stream.ts';
import { calls, deltaFrame, deltas, ends, eventName, outputBytes } from './stream-places.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { hideCacheCounts, writeUsage } from './usage.ts';

/** The responses family, as clients speak it. Its streams have no end mark, and tell usage without being asked. */
export const responsesCodec: ClientCodec = {
  family: 'responses',
  contents,
  speakers,
  ask,
  readAnswer,
  answerLeaves,
  streamReader: () => new ResponsesStreamReader(),
  streamEnd: '',
  outputBytes,
  deltas,
  ends,
  calls,
  deltaFrame,
  eventName,
  usageFrame: () => undefined,
  tellUsage: (document, usage) => tellUsage(document, writeUsage(usage)),
  askForUsage: () => [],
  hideCacheCounts,
  decodeRequest,
  encodeAnswer,
  streamEncoder: (context) => new ResponsesStreamEncoder(context),
};

/** The responses family, as providers speak it. */
export const responsesUpstream: UpstreamCodec = {
  family: 'responses',
  encodeRequest,
  decodeAnswer,
  streamDecoder: () => new ResponsesStreamDecoder(),
};
