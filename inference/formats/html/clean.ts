import { defaultTreeAdapter } from 'parse5';
import { safePicture } from '../ooxml/pictures.ts';
import { attributeKind, isDropped, SAFE_ADDRESS, SAFE_STYLE } from './allowed.ts';
import { makeElement, type Document, type Element, type Node, type Parent } from './tree.ts';

const PICTURE = /^data:(image\/[\w.+-]{1,100})[^,]{0,1000};base64,([\s\S]*)$/i;

/**
 * Keeps only the visible parts of a document: known elements and attributes, links that lead to the network, embedded
 * images the file, blurred. Gives the number of these. Rejects with `too_large`.
 */
export async function cleanDocument(document: Document, checkTime: () => void): Promise<number> {
  const pictures: { attribute: { value: string }; element: Element }[] = [];
  cleanChildren(document, pictures);
  let images = 0;
  for (const { attribute, element } of pictures) {
    checkTime();
    const [, mediaType = '', data = ''] = PICTURE.exec(attribute.value) ?? [];
    if (mediaType === '') {
      // A picture somewhere else would be fetched as it is.
      element.attrs = element.attrs.filter((own) => own !== attribute);
      continue;
    }
    const safe = await safePicture(Buffer.from(data, 'base64'), mediaType.toLowerCase());
    attribute.value = `data:${safe.mediaType};base64,${Buffer.from(safe.bytes).toString('base64')}`;
    images++;
  }
  sayEncoding(document);
  return images;
}

function cleanChildren(parent: Parent, pictures: { attribute: { value: string }; element: Element }[]): void {
  parent.childNodes = parent.childNodes.filter((node: Node) => {
    if (defaultTreeAdapter.isTextNode(node)) return true;
    if (!defaultTreeAdapter.isElementNode(node)) return false;
    if (isDropped(node.tagName)) return false;
    cleanAttributes(node, pictures);
    cleanChildren(node, pictures);
    return true;
  });
}

function cleanAttributes(element: Element, pictures: { attribute: { value: string }; element: Element }[]): void {
  element.attrs = element.attrs.filter((attribute) => {
    const kind = attributeKind(element.tagName, attribute.name);
    if (kind === 'source') pictures.push({ attribute, element });
    if (kind === 'style') return SAFE_STYLE.test(attribute.value);
    if (kind === 'address') return SAFE_ADDRESS.test(attribute.value.trim()) && !/[«»]/.test(attribute.value);
    return kind !== undefined;
  });
}

/** The result is UTF-8 and says so; of a document type nothing but that it is HTML. */
function sayEncoding(document: Document): void {
  const html = document.childNodes.find((node) => node.nodeName === 'html');
  const head = html && 'childNodes' in html ? html.childNodes.find((node) => node.nodeName === 'head') : undefined;
  if (!head || !('childNodes' in head)) return;
  const meta = makeElement('meta', { charset: 'utf-8' });
  const [first] = head.childNodes;
  if (first) defaultTreeAdapter.insertBefore(head, meta, first);
  else defaultTreeAdapter.appendChild(head, meta);
}
