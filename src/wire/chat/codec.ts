import type { ClientCodec, UpstreamCodec } from '../hub/codec.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { ChatStreamDecoder, decodeAnswer } from './decode-stream.ts';
import { ChatStreamEncoder, DONE } from './encode-stream.ts';
import { flatAnswer } from './flat-content.ts';
import { contents } from './leaves.ts';
import { ask, askForUsage } from './request.ts';
import { answerLeaves, readAnswer } from './response.ts';
import { speakers } from './speakers.ts';
import { calls, ChatStreamReader, deltaFrame, deltas, usageFrame } from './read-stream.ts';
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
  deltas,
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
