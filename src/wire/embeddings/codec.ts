import { readId } from '../answer/answer-id.ts';
import { BadRequestShape, type Ask, type Codec } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { plainAsk, plainCodec, simpleUsage, textPlaces } from '../hub/plain-codec.ts';
import { isArray, optionalString } from '../request/request-shape.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { collectContents } from '../request/collect-contents.ts';
import { fitEmbeddings } from './encoding.ts';

const PLACES = textPlaces('input');

/** The embeddings family. */
export const embeddingsCodec: Codec = plainCodec({
  family: 'embeddings',
  contents: (document) => collectContents(document, PLACES),
  ask,
  readAnswer(body) {
    const usage: JsonObject = isObject(body['usage']) ? body['usage'] : {};
    return {
      id: readId(body['id']),
      usage: simpleUsage(usage['prompt_tokens'] ?? usage['total_tokens'], 0),
      complete: Array.isArray(body['data']),
    };
  },
  tellUsage: (document, { input }) => tellUsage(document, { prompt_tokens: input, total_tokens: input }),
  fitAnswer: fitEmbeddings,
});

function ask(document: WireDocument): Ask {
  const { body } = document;
  const plain = plainAsk(document, ['input', 'encoding_format']);
  const { input } = body;
  // A string, strings, tokens, or lists of tokens.
  if (typeof input !== 'string' && !(isArray(input) && input.length > 0)) {
    throw new BadRequestShape('input is required and must be a string or a non-empty array', 'input');
  }
  optionalString(body, 'encoding_format');
  return { ...plain, maxOutputTokens: 0 };
}
