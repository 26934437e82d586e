import { readId } from '../answer-id.ts';
import { BadRequestShape, type Ask, type Codec, type Leaf } from '../codec.ts';
import type { WireDocument } from '../document.ts';
import { mediaIn } from '../media-members.ts';
import { plainAsk, plainCodec, textPlaces } from '../plain-codec.ts';
import { isArray, MAX_ANSWERS, optionalBoolean, optionalCount } from '../request-shape.ts';
import { member } from '../scan.ts';
import { tellUsage } from '../told-usage.ts';
import { walk, type Places } from '../walk.ts';
import { readImageUsage, writeImageUsage } from './usage.ts';

/** Beside the prompt some vendors take pictures, each where it likes. */
const PLACES: Places = { ...textPlaces('prompt'), mediaIn, isBareMedia: () => true };

/** Making images from a prompt, billed by the image or by tokens. // wire-formats 5.2 */
export const imagesCodec: Codec = plainCodec({
  family: 'images',
  contents: (document) => walk(document, PLACES),
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
  if (optionalBoolean(body, 'stream')) throw new BadRequestShape('images are not streamed here', 'stream');
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
