import { BadRequestShape, type Ask, type Contents, type ClientCodec } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { leavesBesides } from '../request/leaves-besides.ts';
import { plainAsk, plainCodec, textPlaces } from '../hub/plain-codec.ts';
import { isArray, optionalBoolean } from '../request/request-shape.ts';
import { hideCacheCounts, readUsage, writeUsage } from '../responses/usage.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { KEPT_BY_MODEL } from '../systemone/questions.ts';
import { readDecision, ROUTER } from '../systemone/read-request.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';
import { decodeRequest, encodeAnswer } from './emulate.ts';
import { namesIn, ownNames, tellApart } from './names.ts';
import { checkInput, readQuestions } from './read-request.ts';
import { toSystemOne } from './systemone.ts';

/** As many options as the local model reads. // spec 4.4.5 */
export const LOCAL_OPTIONS = { choices: 20, levels: 20 };

/** What members are called by the family, by the member around them: no term that is to be removed breaks a request. */
const WORDS: Readonly<Record<string, ReadonlySet<string>>> = {
  '': new Set(['model', 'input', 'questions', 'safety_identifier', 'stream']),
  input: new Set(['role', 'type', 'content']),
  content: new Set(['type', 'text', 'image_url', 'detail']),
  questions: new Set(['type', 'name', 'instructions', 'choices', 'levels']),
  choices: new Set(['value', 'description']),
  levels: new Set(['label', 'description']),
};
/** Values that are words of the family, by the member that they are of. */
const VALUES: Readonly<Record<string, ReadonlySet<string>>> = {
  type: new Set(['message', 'input_text', 'input_image', 'predicate', 'choice', 'score']),
  role: new Set(['user']),
  detail: new Set(['low', 'high', 'auto', 'original']),
};

const PLACES: Places = {
  ...textPlaces('input', 'questions'),
  // Numbers of evidence are what it says, not a text in another spelling.
  isTokens: () => false,
  isWord: (word, name) => Object.hasOwn(WORDS, name) && WORDS[name]!.has(word),
  mediaOf(object) {
    const type = member(object, 'type');
    return type?.kind === 'string' && type.value === 'input_image' ? 'image' : undefined;
  },
};

/**
 * Typed decisions in the shape of OpenAI and those that took it over: evidence and a list of questions in, answers in the
 * same order out. // openai-node, src/resources/decisions.ts; docs.fireworks.ai/api-reference/post-decisions;
 * vercel.com/docs/ai-gateway/sdks-and-apis/openai-decisions
 */
export const decisionsCodec: ClientCodec = {
  ...plainCodec({
    family: 'decisions',
    contents,
    ask,
    checkLocal,
    tellApart,
    tellUsage: (document, usage) => tellUsage(document, writeUsage(usage)),
    readAnswer: (body) => ({
      id: undefined,
      usage: readUsage(body['usage']),
      complete: isArray(body['answers']),
    }),
    // `ownNames` sees to the rest.
    answerLeaves: (answer) => leavesBesides(answer, new Set(namesIn(answer))),
    fitAnswer: ownNames,
  }),
  hideCacheCounts,
  decodeRequest,
  encodeAnswer,
  streamEncoder: () => ({ encode: () => '' }),
};

/** Words of the format are no text; a local model leaves out some signs of the questions. */
function contents(document: WireDocument): Contents {
  const found = collectContents(document, PLACES);
  const ofFormat = new Set(formatIn(document.root));
  const questions = member(document.root, 'questions');
  const isAsked = ({ start, end }: JsonNode): boolean =>
    questions !== undefined && start >= questions.start && end <= questions.end;
  const leaves = found.leaves
    .filter(({ node }) => !ofFormat.has(node))
    .map((leaf) => (isAsked(leaf.node) ? { ...leaf, skipped: KEPT_BY_MODEL } : leaf));
  return { ...found, leaves };
}

function formatIn(root: JsonNode): readonly JsonNode[] {
  const messages = itemsOf(member(root, 'input'));
  const parts = messages.flatMap((message) => itemsOf(member(message, 'content')));
  return [...messages, ...parts, ...itemsOf(member(root, 'questions'))].flatMap((object) =>
    Object.entries(VALUES).flatMap(([name, words]) => {
      const node = member(object, name);
      return node?.kind === 'string' && words.has(node.value) ? [node] : [];
    }),
  );
}

function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : [];
}

function ask(document: WireDocument): Ask {
  const { body } = document;
  const plain = plainAsk(document, ['input', 'questions', 'stream']);
  checkInput(body['input']);
  readQuestions(body['questions']);
  if (optionalBoolean(body, 'stream'))
    throw new BadRequestShape('stream must not be true: decisions are not streamed', 'stream');
  return plain;
}

/** What a local model is asked in this shape must fit it in its own. // spec 4.4.4, 4.4.5 */
function checkLocal({ body }: WireDocument, model: string): void {
  if (model === ROUTER) {
    throw new BadRequestShape(`${ROUTER} has its own questions: call it at /v1/systemone`, 'model');
  }
  const asked = toSystemOne(body, { model, ...LOCAL_OPTIONS });
  try {
    readDecision(asked, model);
  } catch (thrown) {
    if (!(thrown instanceof BadRequestShape) || thrown.param !== 'state') throw thrown;
    throw new BadRequestShape(thrown.message.replace('state', 'input'), 'input', thrown.status);
  }
}
