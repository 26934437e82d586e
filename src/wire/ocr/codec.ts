import { readId } from '../answer/answer-id.ts';
import { BadRequestShape, type Ask, type Codec, type Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { readDataUrl } from '../request/media.ts';
import { says } from '../hub/defined-members.ts';
import { plainAsk, plainCodec, textPlaces } from '../hub/plain-codec.ts';
import { isArray, optionalObject } from '../request/request-shape.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { isTold, toldCount } from '../answer/usage.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';
import { isOnePicture, pageRanges } from './pages.ts';

const PLACES: Places = {
  ...textPlaces('document'),
  mediaOf(object, name) {
    if (name !== 'document') return undefined;
    return member(object, 'image_url') ? 'image' : 'file';
  },
};

/** Reading documents: one document in, its pages as markdown out, billed by the page. // spec 2.4, wire-formats 7.1 */
export const ocrCodec: Codec = plainCodec({
  family: 'ocr',
  contents: (document) => collectContents(document, PLACES),
  ask,
  readAnswer(body) {
    const usage = body['usage_info'];
    const processed = isObject(usage) ? usage['pages_processed'] : undefined;
    const told = isArray(body['pages']) ? body['pages'].length : undefined;
    const pages = isTold(processed) ? toldCount(processed) : told;
    return {
      id: readId(body['id']),
      usage: undefined,
      ...(pages === undefined ? {} : { units: { pages } }),
      complete: isArray(body['pages']),
    };
  },
  answerLeaves,
});

function ask(document: WireDocument): Ask {
  const { body } = document;
  const plain = plainAsk(document, ['document', 'pages']);
  const url = addressOf(optionalObject(body, 'document') ?? {});
  const pages = pagesAsked(body['pages'], url);
  return {
    ...plain,
    maxOutputTokens: 0,
    ...(pages === undefined ? {} : { units: { pages } }),
  };
}

/** Where a document is: a `data:` or an `https:` URL. Throws `BadRequestShape`. */
export function addressOf(document: JsonObject): string {
  if (says(document['file_id'])) {
    throw new BadRequestShape(
      'document must not be a file id of a provider: send the content in the request',
      'document.file_id',
    ); // spec 4.3.5
  }
  const image = document['image_url'];
  const url = says(image) ? (isObject(image) ? image['url'] : image) : document['document_url'];
  if (typeof url !== 'string' || !(/^https:\/\//i.test(url) || readDataUrl(url))) {
    throw new BadRequestShape('document must have a document_url or an image_url, a data: or https: URL', 'document');
  }
  return url;
}

/** How many pages the client knows of: those it names, or the one of a picture. Undefined: all there are. */
function pagesAsked(pages: Json | undefined, url: string): number | undefined {
  // A list is counted whatever is in it: what a vendor makes of it is the vendor's affair.
  if (isArray(pages) && pages.length > 0) return pages.length;
  const ranges = isArray(pages) ? undefined : pageRanges(pages);
  if (ranges) return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  return isOnePicture(readDataUrl(url)?.data ?? '') ? 1 : undefined;
}

/** Every string of an answer but the pictures cut out of it. */
function answerLeaves(answer: WireDocument): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode, name: string): void => {
    if (node.kind === 'string' && name !== 'image_base64') found.push({ node, text: node.value, kind: 'text' });
    else if (node.kind === 'array') for (const item of node.items) visit(item, name);
    else if (node.kind === 'object') for (const { key, value } of node.members) visit(value, key.value);
  };
  visit(answer.root, '');
  return found;
}
