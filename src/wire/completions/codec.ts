import { DONE } from '../chat/encode-stream.ts';
import { askForUsage } from '../chat/read-request.ts';
import { answerLeaves, readAnswer } from '../chat/read-answer.ts';
import { ChatStreamReader } from '../chat/read-stream.ts';
import { deltas, ends, outputBytes } from '../chat/stream-places.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { hideCacheCounts, writeUsage } from '../chat/usage.ts';
import type { ClientCodec } from '../hub/codec.ts';
import { textPlaces } from '../hub/plain-codec.ts';
import { collectContents } from '../request/collect-contents.ts';
import { CompletionStreamEncoder, deltaFrame, encodeAnswer, usageFrame } from './answer.ts';
import { ask, decodeRequest } from './read-request.ts';

const PLACES = textPlaces('prompt', 'suffix');

/**
 * Plain completions, the family that chat grew out of: what frames an answer is the same, only texts stand in the place
 * of messages. // wire-formats 5.2
 */
export const completionsCodec: ClientCodec = {
  family: 'completions',
  contents: (document) => collectContents(document, PLACES),
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
  deltaFrame,
  usageFrame,
  hideCacheCounts,
  decodeRequest,
  encodeAnswer,
  streamEncoder: (context) => new CompletionStreamEncoder(context),
};
