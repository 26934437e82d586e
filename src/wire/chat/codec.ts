import type { Codec } from '../codec.ts';
import { contents } from './leaves.ts';
import { ask, askForUsage } from './request.ts';
import { answerLeaves, readAnswer } from './response.ts';
import { ChatStreamReader, deltaFrame, deltas, usageFrame } from './stream.ts';
import { hideCacheCounts } from './usage.ts';

/** The chat completion family. */
export const chatCodec: Codec = {
  family: 'chat',
  contents,
  ask,
  askForUsage,
  readAnswer,
  answerLeaves,
  streamReader: () => new ChatStreamReader(),
  streamEnd: 'data: [DONE]\n\n',
  deltas,
  deltaFrame,
  usageFrame,
  hideCacheCounts,
};
