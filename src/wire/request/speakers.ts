import type { JsonNode, ObjectNode } from '../document/scan.ts';

/**
 * Who says a part of a request. `user`: the caller's own words, system prompts among them. `assistant`: earlier answers.
 * `tool`: what a tool returned. `definition`: what the caller says of a tool. `document`: what an attached document says.
 */
export interface Speaker {
  readonly by: 'user' | 'assistant' | 'tool' | 'definition' | 'document';
  /** Of a tool's result or definition; empty where nothing names it. */
  readonly tool?: string;
}

/** A value of a request, all of which one speaker says, but for the spoken values within it. */
export interface UserText {
  readonly node: JsonNode;
  readonly speaker: Speaker;
}

/** The text of a string member, empty for any other. */
export function said(object: ObjectNode, name: string): string {
  const found = object.members.find(({ key }) => key.value === name)?.value;
  return found?.kind === 'string' ? found.value : '';
}

/** The items of a list that are objects. */
export function objectsOf(node: JsonNode | undefined): readonly ObjectNode[] {
  return node?.kind === 'array' ? node.items.filter((item) => item.kind === 'object') : [];
}
