import { readId } from '../answer/answer-id.ts';
import { BadRequestShape, type Ask, type Codec } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type JsonObject } from '../document/json.ts';
import { plainAsk, plainCodec, simpleUsage, textPlaces } from '../hub/plain-codec.ts';
import { isArray } from '../request/request-shape.ts';
import { member } from '../document/scan.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';

const PLACES: Places = {
  ...textPlaces('input'),
  mediaOf(object, name, listed) {
    return listed && name === 'input' && member(object, 'image_url') ? 'image' : undefined;
  },
};

/** The moderation family: texts and images in, categories out. */
export const moderationsCodec: Codec = plainCodec({
  family: 'moderations',
  contents: (document) => collectContents(document, PLACES),
  ask,
  readAnswer(body) {
    const usage: JsonObject = isObject(body['usage']) ? body['usage'] : {};
    return {
      id: readId(body['id']),
      usage: simpleUsage(usage['prompt_tokens'], 0),
      complete: Array.isArray(body['results']),
    };
  },
});

function ask(document: WireDocument): Ask {
  const plain = plainAsk(document, ['input']);
  const { input } = document.body;
  if (typeof input !== 'string' && !(isArray(input) && input.length > 0)) {
    throw new BadRequestShape('input is required and must be a string or a non-empty array', 'input');
  }
  return { ...plain, maxOutputTokens: 0 };
}
