import { AnswerOutOfBounds } from '../answer/answer-bounds.ts';
import { setString, type Edit } from '../document/document.ts';
import type { JsonNode, ObjectNode, StringNode } from '../document/scan.ts';
import type { Steps } from '../document/steps.ts';

/** No honest result links to more resources. */
const MOST_LINKS = 10_000;
const OBJECTS_A_STEP = 256;

/**
 * Writes other addresses for the resources that a result holds or links to: in `content` of tools, in the messages of
 * prompts, in `contents` of resources, and in the data of an error. `to`: the new address of one. In steps. Throws
 * `AnswerOutOfBounds` for too many links.
 */
export function* linkEdits(root: ObjectNode, to: (uri: string) => string): Steps<readonly Edit[]> {
  const edits: Edit[] = [];
  let count = 0;
  let looked = 0;
  for (const object of linking(root)) {
    if (++looked % OBJECTS_A_STEP === 0) yield;
    for (const node of object === undefined ? [] : urisOf(object)) {
      if (++count > MOST_LINKS) throw new AnswerOutOfBounds(`the answer has more than ${MOST_LINKS} links`);
      const uri = to(node.value);
      if (uri !== node.value) edits.push(setString(node, uri));
    }
  }
  return edits;
}

/** The objects whose `uri` is an address, one by one; undefined: something else was looked at. */
function* linking(root: ObjectNode): Generator<ObjectNode | undefined> {
  for (const node of membersOf(root, 'content')) yield* inContent(node);
  for (const node of membersOf(root, 'contents')) yield* objectsIn(node);
  for (const node of membersOf(root, 'messages')) {
    for (const message of objectsIn(node)) {
      yield undefined;
      if (message) for (const inside of membersOf(message, 'content')) yield* inContent(inside);
    }
  }
  for (const node of membersOf(root, 'data')) if (node.kind === 'object') yield node;
}

function* inContent(node: JsonNode): Generator<ObjectNode | undefined> {
  for (const block of objectsIn(node)) {
    yield block;
    if (!block) continue;
    for (const resource of membersOf(block, 'resource')) if (resource.kind === 'object') yield resource;
  }
}

function urisOf(object: ObjectNode): readonly StringNode[] {
  return membersOf(object, 'uri').filter((uri) => uri.kind === 'string');
}

/** An object, or those of a list; undefined stands for an item of another kind. */
function* objectsIn(node: JsonNode): Generator<ObjectNode | undefined> {
  if (node.kind === 'object') yield node;
  if (node.kind === 'array') for (const item of node.items) yield item.kind === 'object' ? item : undefined;
}

/** Every member of this name: clients differ in which of two they read. */
function membersOf({ members }: ObjectNode, name: string): readonly JsonNode[] {
  return members.flatMap(({ key, value }) => (key.value === name ? [value] : []));
}
