import type { Ask, Codec, Leaf } from '../codec.ts';
import type { WireDocument } from '../document.ts';
import { isObject, type JsonObject } from '../json.ts';
import { plainAsk, plainCodec, simpleUsage, textPlaces } from '../plain-codec.ts';
import type { JsonNode } from '../scan.ts';
import { walk, type Places } from '../walk.ts';
import { QUESTION_TYPES } from './questions.ts';

const PLACES: Places = {
  ...textPlaces('state', 'questions'),
  isStructural: (text, name) => name === 'type' && QUESTION_TYPES.has(text),
};

/** Typed decisions: a state and questions about it in, answers by name of the question out. // spec 2.6 */
export const systemOneCodec: Codec = plainCodec({
  family: 'systemone',
  contents: (document) => walk(document, PLACES),
  ask: (document): Ask => plainAsk(document, ['state', 'questions']),
  readAnswer(body) {
    const usage: JsonObject = isObject(body['usage']) ? body['usage'] : {};
    return {
      id: undefined,
      usage: simpleUsage(usage['input_tokens'], usage['output_tokens']),
      complete: isObject(body['answers']),
    };
  },
  answerLeaves,
});

/** Every string of an answer, and every name: options and questions are names in it. */
function answerLeaves(answer: WireDocument): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode): void => {
    if (node.kind === 'string') found.push({ node, text: node.value, kind: 'text' });
    else if (node.kind === 'array') node.items.forEach(visit);
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        visit(key);
        visit(value);
      }
    }
  };
  visit(answer.root);
  return found;
}
