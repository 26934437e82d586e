import { readId } from '../answer/answer-id.ts';
import { BadRequestShape, type Ask, type Codec, type Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { mediaIn } from '../request/media-fields.ts';
import { plainAsk, plainCodec, textPlaces } from '../hub/plain-codec.ts';
import { isArray, MAX_ANSWERS, optionalBoolean, optionalCount } from '../request/request-shape.ts';
import { member } from '../document/scan.ts';
import { tellUsage } from '../answer/replace-usage.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';
import { readImageUsage, writeImageUsage } from './usage.ts';

/** Besides the prompt, some vendors take images in members of their own. */
const PLACES: Places = { ...textPlaces('prompt'), mediaIn, isBareMedia: () => true };

/** Making images from a prompt, billed by the image or by tokens. // wire-formats 5.2 */
export const imagesCodec: Codec = plainCodec({
  family: 'images',
  contents: (document) => collectContents(document, PLACES),
  ask,
  readAnswer(body) {
    const complete = isArray(body['data']);
    return {
      id: readId(body['id']),
      usage: readImageUsage(body['usage']),
      ...(isArray(body['data']) ? { units: { images: body['data'].length } } : {}),
      complete,
    };
  },
  tellUsage: (document, usage) => tellUsage(document, writeImageUsage(usage)),
  answerLeaves,
});

function ask(document: WireDocument): Ask {
  const { body } = document;
  const plain = plainAsk(document, ['prompt', 'n', 'stream', 'size', 'quality']);
  if (typeof body['prompt'] !== 'string' || body['prompt'] === '') {
    throw new BadRequestShape('prompt is required and must be a string', 'prompt');
  }
  if (optionalBoolean(body, 'stream'))
    throw new BadRequestShape('stream must not be true: images are not streamed', 'stream');
  const images = optionalCount(body, 'n', MAX_ANSWERS) ?? 1;
  return {
    ...plain,
    answers: images,
    units: { images },
  };
}

/** What the prompt was made into. The images themselves are no text. */
function answerLeaves(answer: WireDocument): readonly Leaf[] {
  const data = member(answer.root, 'data');
  if (data?.kind !== 'array') return [];
  const found: Leaf[] = [];
  for (const item of data.items) {
    const node = member(item, 'revised_prompt');
    if (node?.kind === 'string') found.push({ node, text: node.value, kind: 'text' });
  }
  return found;
}
