import type { Contents, Leaf } from '../hub/codec.ts';
import { locate, readDocument, type WireDocument } from '../document/document.ts';
import type { JsonObject } from '../document/json.ts';
import { readLarge } from '../document/large-json.ts';
import type { JsonNode, ObjectNode } from '../document/scan.ts';
import type { Steps } from '../document/steps.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';

/** The member that arguments are put into to be inspected: no name of theirs is then a word of a format. */
const INSIDE = '{"arguments":';

/** Arguments as a document of their own. `source`: their JSON as the client wrote it. */
export function argumentsDocument(source: string, args: JsonObject): WireDocument {
  return locate('mcp', `${INSIDE}${source}}`, { arguments: args });
}

/** The JSON of the arguments in such a document, edited. */
export function argumentsIn(text: string): string {
  return text.slice(INSIDE.length, -1);
}

const OF_ARGUMENTS: Places = {
  promptOrder: [],
  roleOf: () => undefined,
  mediaOf: () => undefined,
  isBareMedia: () => false,
  isWord: (_word, name) => name === '',
  isAllOwn: true,
};

/** Every string of arguments, names of members and long numbers too: nothing in them is structural. */
export const ARGUMENTS = { contents: (document: WireDocument): Contents => collectContents(document, OF_ARGUMENTS) };

/** Members that hold resources. */
const HOLDERS: ReadonlySet<string> = new Set(['resource', 'contents']);

const OF_RESULT: Places = {
  isForeign: true,
  promptOrder: ['content', 'structuredContent', 'contents', 'messages'],
  roleOf: () => undefined,
  mediaOf(object, name) {
    if (name !== 'content') return undefined;
    const type = textOf(object, 'type');
    return type === 'image' || type === 'audio' ? type : undefined;
  },
  mediaIn: (_text, name, parent) => (name === 'blob' && HOLDERS.has(parent) ? 'file' : undefined),
  isBareMedia: (name) => name === 'data' || name === 'blob',
  own: new Map([['structuredContent', ['']]]),
};

/** Every string of a result, and its media. Throws `BadRequestShape` for bytes that are not base64. */
export const RESULT = { contents: (document: WireDocument): Contents => collectContents(document, OF_RESULT) };

function textOf({ members }: ObjectNode, name: string): string | undefined {
  const value = members.find(({ key }) => key.value === name)?.value;
  return value?.kind === 'string' ? value.value : undefined;
}

/** Every string of a result or of a notice, names of members too, for restoring: JSON within a text is JSON. */
export function textsIn({ root }: Pick<WireDocument, 'root'>): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const visit = (node: JsonNode): void => {
    if (node.kind === 'string') {
      leaves.push({ node, text: node.value, kind: isJson(node.value) ? 'json' : 'text' });
    } else if (node.kind === 'array') node.items.forEach(visit);
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        leaves.push({ node: key, text: key.value, kind: 'text' });
        visit(value);
      }
    }
  };
  visit(root);
  return leaves;
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Large arguments as they are sent, in steps. Throws as `readLarge` does. */
export function readLargeArguments(text: string): Steps<WireDocument> {
  return readLarge('mcp', text, { isOwn: true });
}

/** A large result of a server, in steps. Throws as `readLarge` does. */
export function readLargeResult(text: string): Steps<WireDocument> {
  return readLarge('mcp', text, { lenient: true, isOwn: true });
}

/** A result or an error of a server. Throws as `readDocument` does. */
export function readResult(text: string): WireDocument {
  return readDocument('mcp', text, { lenient: true });
}
