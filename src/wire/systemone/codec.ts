import type { Ask, Codec, Contents, Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { leavesBesides } from '../request/leaves-besides.ts';
import { plainAsk, plainCodec, simpleUsage, textPlaces } from '../hub/plain-codec.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';
import { namesIn, ownNames, tellApart } from './names.ts';
import { KEPT_BY_MODEL, QUESTION_TYPES } from './questions.ts';
import { readDecision, ROUTER } from './read-request.ts';
import { readState } from './state.ts';

/** What members are called by the family: no term that is to be removed breaks a request. // spec 2.6, 4.4.3 */
const OF_REQUEST = new Set(['model', 'state', 'questions']);
const OF_QUESTION = new Set(['type', 'instructions', 'criteria']);
/** As a conversation has them. */
const ROUTER_STATE = ['system', 'previous', 'request', 'attachments'];
const OF_ROUTER_STATE = new Set(ROUTER_STATE);

const PLACES: Places = {
  ...textPlaces('state', 'questions'),
  // Numbers of a state are what it says, not a text in another spelling.
  isTokens: () => false,
  isWord: (word, name, parent) => (parent === 'questions' ? OF_QUESTION : name === '' ? OF_REQUEST : NONE).has(word),
};
const ROUTER_PLACES: Places = {
  ...PLACES,
  isWord: (word, name) => (name === 'state' ? OF_ROUTER_STATE : name === '' ? OF_REQUEST : NONE).has(word),
};
const NONE: ReadonlySet<string> = new Set();

/** Typed decisions: a state and questions about it in, answers by name of the question out. // spec 2.6 */
export const systemOneCodec: Codec = plainCodec({
  family: 'systemone',
  contents: (document) => (document.body['model'] === ROUTER ? routerContents(document) : questionContents(document)),
  ask,
  checkLocal: ({ body }, model) => void readDecision(body, model),
  tellApart,
  readAnswer(body) {
    const usage: JsonObject = isObject(body['usage']) ? body['usage'] : {};
    return {
      id: undefined,
      usage: simpleUsage(usage['input_tokens'], usage['output_tokens']),
      complete: isObject(body['answers']),
    };
  },
  // `ownNames` sees to the rest.
  answerLeaves: (answer) => leavesBesides(answer, new Set(namesIn(answer))),
  fitAnswer: ownNames,
});

/** Types of questions are no text, nor is what a proposition's criteria are called; the model leaves out some signs of the rest. */
function questionContents(document: WireDocument): Contents {
  const contents = collectContents(document, PLACES);
  const questions = member(document.root, 'questions');
  if (questions?.kind !== 'object') return contents;
  const ofFormat = new Set(questions.members.flatMap(({ value }) => wordsOfFormat(value)));
  const leaves = contents.leaves
    .filter(({ node }) => !ofFormat.has(node))
    .map((leaf) => (isWithin(leaf.node, questions) ? { ...leaf, skipped: KEPT_BY_MODEL } : leaf));
  return { ...contents, leaves };
}

function isWithin({ start, end }: JsonNode, part: JsonNode): boolean {
  return start >= part.start && end <= part.end;
}

function wordsOfFormat(question: JsonNode): readonly JsonNode[] {
  const type = member(question, 'type');
  if (type?.kind !== 'string' || !QUESTION_TYPES.has(type.value)) return [];
  const criteria = type.value === 'noul' ? member(question, 'criteria') : undefined;
  const told = criteria?.kind === 'object' ? criteria.members.map(({ key }) => key) : [];
  return [type, ...told.filter(({ value }) => value === 'true' || value === 'false')];
}

/** Leaves in the order of a conversation: tags are numbered as they are where the same is said to an automatic alias. */
function routerContents(document: WireDocument): Contents {
  const contents = collectContents(document, ROUTER_PLACES);
  const parts = ROUTER_STATE.map((name) => member(member(document.root, 'state'), name));
  const rank = ({ node }: Leaf): number => parts.findIndex((part) => part !== undefined && isWithin(node, part));
  return { ...contents, leaves: contents.leaves.toSorted((a, b) => rank(a) - rank(b)) };
}

function ask(document: WireDocument): Ask {
  const plain = plainAsk(document, ['state', 'questions']);
  readState(document.body['state']);
  return plain;
}
