import type { Leaf } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import type { JsonNode } from '../document/scan.ts';

/** Every string of an answer, names of members included, besides those in `names`. */
export function leavesBesides({ root }: WireDocument, names: ReadonlySet<JsonNode>): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode): void => {
    if (names.has(node)) return;
    if (node.kind === 'string') found.push({ node, text: node.value, kind: 'text' });
    else if (node.kind === 'array') node.items.forEach(visit);
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        visit(key);
        visit(value);
      }
    }
  };
  visit(root);
  return found;
}
