import type { JsonNode } from './scan.ts';

/** Words of the formats. Any other name may be the caller's own, and tell what it is to keep quiet about. */
const WORDS: ReadonlySet<string> = new Set(
  (
    'messages content system input instructions prompt suffix text output tools tool_calls function name description ' +
    'parameters arguments documents document file source image_url input_audio state questions criteria query user ' +
    'metadata response_format json_schema schema thinking summary reasoning context title filename stop prediction id call_id tool_call_id ' +
    'tool_use_id file_id previous_response_id conversation container item_reference'
  ).split(' '),
);

/**
 * Where in a request something stands, as far as the words of its format say: `messages[3].content[1]`. Of a part of a
 * list, the part. Undefined where nothing can be said. `at`: an offset in the text that the nodes are of.
 */
export function pathTo(root: JsonNode, at: number): string | undefined {
  let path = '';
  let listed = 0;
  for (let node: JsonNode | undefined = root; node;) {
    if (node.kind === 'array') {
      const index: number = node.items.findIndex((item) => holds(item, at));
      if (index < 0) break;
      path += `[${index}]`;
      // An item of a conversation is named, with its number after the name; one of its parts only has a number.
      if (++listed === MOST_LISTS) break;
      node = node.items[index];
    } else if (node.kind === 'object') {
      const member: { readonly key: { readonly value: string }; readonly value: JsonNode } | undefined =
        node.members.find(({ value }) => holds(value, at));
      if (!member || !WORDS.has(member.key.value)) break;
      path += path === '' ? member.key.value : `.${member.key.value}`;
      node = member.value;
    } else break;
  }
  return path === '' ? undefined : path;
}

const MOST_LISTS = 2;

function holds({ start, end }: JsonNode, at: number): boolean {
  return start <= at && at < end;
}
