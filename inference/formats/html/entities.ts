import { defaultTreeAdapter, parseFragment } from 'parse5';

/** A text of HTML without markup, with its entities put in their places. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&#?\w{1,40};/g, (entity) => {
    const [node] = parseFragment(entity).childNodes;
    return node && defaultTreeAdapter.isTextNode(node) ? node.value : entity;
  });
}
