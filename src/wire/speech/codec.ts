import { BadRequestShape, type Ask, type Codec } from '../codec.ts';
import type { WireDocument } from '../document.ts';
import { plainAsk, plainCodec, textPlaces } from '../plain-codec.ts';
import { walk } from '../walk.ts';

const PLACES = textPlaces('instructions', 'input');

/** Reading a text aloud. The answer is sound: there is nothing to read in it. */
export const speechCodec: Codec = plainCodec({
  family: 'speech',
  contents: (document) => walk(document, PLACES),
  ask,
  readAnswer: () => ({ id: undefined, usage: undefined, complete: false }),
});

function ask(document: WireDocument): Ask {
  const plain = plainAsk(document, ['input', 'stream_format']);
  const { input } = document.body;
  if (typeof input !== 'string' || input === '') {
    throw new BadRequestShape('input is required and must be a string', 'input');
  }
  return plain;
}
