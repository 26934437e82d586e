import type { ClientCodec, Contents, Media, UpstreamCodec } from '../hub/codec.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeAnswer } from './encode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { ChatStreamDecoder, decodeAnswer } from './decode-stream.ts';
import { ChatStreamEncoder, DONE } from './encode-stream.ts';
import { flatAnswer } from './flat-content.ts';
import { ask, askForUsage } from './read-request.ts';
import { answerLeaves, readAnswer } from './read-answer.ts';
import { speakers } from './read-speakers.ts';
import { ChatStreamReader } from './read-stream.ts';
import { calls, deltaFrame, deltas, ends, outputBytes, usageFrame } from './stream-places.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { hideCacheCounts, writeUsage } from './usage.ts';
import type { WireDocument } from '../document/document.ts';
import { member, type ObjectNode } from '../document/scan.ts';
import { TOKEN_LISTS, collectContents, type MembersByName, type Places } from '../request/collect-contents.ts';

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

/** An id as every vendor makes them; anything else in an id's place is read as text. */
const OPAQUE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Content parts whose strings are all text. A part of any other type carries media, known or not. */
const TEXT_PARTS = new Set(['text', 'refusal', 'input_text', 'output_text']);

/** What clients fill as they like: nothing in it is an id or media, whatever it calls itself. */
const OWN: MembersByName = new Map([
  ['parameters', ['function', 'functions']],
  ['schema', ['json_schema']],
  ['metadata', ['']],
  ['prediction', ['']],
]);

const PLACES: Places = {
  promptOrder: ['tools', 'functions', 'messages', 'prompt'],
  roleOf(text, name, parent) {
    const isId = name === 'tool_call_id' || (name === 'id' && parent === 'tool_calls');
    return isId && OPAQUE_ID.test(text) ? 'pair' : undefined;
  },
  json: new Map([['arguments', ['function', 'function_call']]]),
  mediaOf: (object, name, listed) => (listed && name === 'content' ? mediaOfPart(object) : undefined),
  isBareMedia: (name) => name === 'data' || name === 'file_data',
  isTokens: (name, parent) => parent === '' && TOKEN_LISTS.has(name),
  own: OWN,
};

/** Every string of a chat request that can leave; ids that pair a tool call with its result are structural. */
function contents(document: WireDocument): Contents {
  return collectContents(document, PLACES);
}

function mediaOfPart(part: ObjectNode): Media['kind'] | undefined {
  const type = member(part, 'type');
  if (type?.kind !== 'string' || TEXT_PARTS.has(type.value)) return undefined;
  if (type.value.includes('image')) return 'image';
  return type.value.includes('audio') ? 'audio' : 'file';
}
