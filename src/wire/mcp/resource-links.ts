import { setString, type Edit } from '../document/document.ts';
import type { JsonNode, ObjectNode, StringNode } from '../document/scan.ts';

/**
 * Writes other addresses for the resources that a result holds or links to: in `content` of tools, in the messages of
 * prompts, in `contents` of resources, and in the data of an error. `to`: the new address of one.
 */
export function linkEdits(root: ObjectNode, to: (uri: string) => string): readonly Edit[] {
  return linksIn(root).flatMap((node) => {
    const uri = to(node.value);
    return uri === node.value ? [] : setString(node, uri);
  });
}

function linksIn(root: ObjectNode): readonly StringNode[] {
  const links: StringNode[] = [];
  const content = (node: JsonNode): void => {
    for (const block of objectsIn(node)) {
      uris(block, links);
      for (const resource of membersOf(block, 'resource')) if (resource.kind === 'object') uris(resource, links);
    }
  };
  for (const node of membersOf(root, 'content')) content(node);
  for (const node of membersOf(root, 'contents')) for (const one of objectsIn(node)) uris(one, links);
  for (const node of membersOf(root, 'messages'))
    for (const message of objectsIn(node)) for (const inside of membersOf(message, 'content')) content(inside);
  for (const node of membersOf(root, 'data')) if (node.kind === 'object') uris(node, links);
  return links;
}

function uris(object: ObjectNode, links: StringNode[]): void {
  for (const uri of membersOf(object, 'uri')) if (uri.kind === 'string') links.push(uri);
}

/** An object, or those of a list. */
function objectsIn(node: JsonNode): readonly ObjectNode[] {
  const nodes = node.kind === 'array' ? node.items : [node];
  return nodes.filter((one) => one.kind === 'object');
}

/** Every member of this name: clients differ in which of two they read. */
function membersOf({ members }: ObjectNode, name: string): readonly JsonNode[] {
  return members.flatMap(({ key, value }) => (key.value === name ? [value] : []));
}
