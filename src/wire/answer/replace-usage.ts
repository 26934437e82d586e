import type { Edit, WireDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';

/** Members of an answer or an event that hold its usage, besides the answer itself. */
const HOLDERS = ['message', 'response', 'x_groq'];

/** Edits that put this usage, in the family's own words, wherever an answer or an event tells one. */
export function tellUsage({ root }: WireDocument, written: JsonObject): readonly Edit[] {
  const text = JSON.stringify(written);
  const edits: Edit[] = [];
  const tell = (holder: JsonNode | undefined): void => {
    const node = member(holder, 'usage');
    if (node && node.kind !== 'literal') edits.push({ start: node.start, end: node.end, text });
  };
  tell(root);
  for (const name of HOLDERS) tell(member(root, name));
  const choices = member(root, 'choices');
  if (choices?.kind === 'array') for (const choice of choices.items) tell(choice);
  return edits;
}
