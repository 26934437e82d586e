import type { ClientCodec, UpstreamCodec } from '../hub/codec.ts';
import { decodeRequest } from './decode-request.ts';
import { dropSigned } from './drop-signed.ts';
import { encodeRequest } from './encode-request.ts';
import { MessagesStreamDecoder } from './decode-stream.ts';
import { MessagesStreamEncoder } from './encode-stream.ts';
import { contents } from './read-contents.ts';
import { ask } from './read-request.ts';
import { decodeAnswer } from './decode-answer.ts';
import { encodeAnswer } from './encode-answer.ts';
import { answerLeaves, readAnswer } from './read-answer.ts';
import { speakers } from './read-speakers.ts';
import { MessagesStreamReader, STREAM_END } from './read-stream.ts';
import { calls, deltaFrame, deltas, ends, outputBytes } from './stream-places.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { hideCacheCounts, writeUsage } from './usage.ts';

/** The messages family as clients speak it. */
export const messagesCodec: ClientCodec = {
  family: 'messages',
  contents,
  speakers,
  ask,
  dropSigned,
  readAnswer,
  answerLeaves,
  streamReader: () => new MessagesStreamReader(),
  streamEnd: STREAM_END,
  outputBytes,
  deltas,
  ends,
  calls,
  deltaFrame,
  eventName: ({ type }) => (typeof type === 'string' ? type : undefined),
  // Every stream tells its usage, in events that tell more.
  usageFrame: () => undefined,
  tellUsage: (document, usage) => tellUsage(document, writeUsage(usage)),
  askForUsage: () => [],
  hideCacheCounts,
  decodeRequest,
  encodeAnswer,
  streamEncoder: (context) => new MessagesStreamEncoder(context),
};

/** The messages family as providers speak it. */
export const messagesUpstream: UpstreamCodec = {
  family: 'messages',
  encodeRequest,
  decodeAnswer,
  streamDecoder: () => new MessagesStreamDecoder(),
};
