import type { ClientCodec, UpstreamCodec } from '../hub/codec.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { ChatStreamDecoder, decodeAnswer } from './decode-stream.ts';
import { ChatStreamEncoder, DONE } from './encode-stream.ts';
import { flatAnswer } from './flat-content.ts';
import { contents } from './read-contents.ts';
import { ask, askForUsage } from './read-request.ts';
import { answerLeaves, readAnswer } from './read-answer.ts';
import { speakers } from './read-speakers.ts';
import { ChatStreamReader } from './read-stream.ts';
import { calls, deltaFrame, deltas, ends, outputBytes, usageFrame } from './stream-places.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { hideCacheCounts, writeUsage } from './usage.ts';

/** The chat completion family, as clients speak it. */
export const chatCodec: ClientCodec = {
  family: 'chat',
  contents,
  speakers,
  ask,
  tellUsage: (document, usage) => tellUsage(document, writeUsage(usage)),
  askForUsage,
  readAnswer,
  answerLeaves,
  streamReader: (answers) => new ChatStreamReader(answers),
  streamEnd: DONE,
  outputBytes,
  deltas,
  ends,
  calls,
  deltaFrame,
  usageFrame,
  hideCacheCounts,
  flatAnswer,
  decodeRequest,
  encodeAnswer,
  streamEncoder: (context) => new ChatStreamEncoder(context),
};

/** The chat completion family, as providers speak it. */
export const chatUpstream: UpstreamCodec = {
  family: 'chat',
  encodeRequest,
  decodeAnswer,
  streamDecoder: () => new ChatStreamDecoder(),
};
