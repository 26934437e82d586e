import type { Contents, Media } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { member, type ObjectNode } from '../document/scan.ts';
import { TOKEN_LISTS, collectContents, type Places } from '../request/collect-contents.ts';

/** An id as every vendor makes them; anything else in an id's place is read as text. */
const OPAQUE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Content parts whose strings are all text. A part of any other type carries media, known or not. */
const TEXT_PARTS = new Set(['text', 'refusal', 'input_text', 'output_text']);

/** What clients fill as they like: nothing in it is an id or media, whatever it calls itself. */
const OWN = new Set(['function.parameters', 'functions.parameters', 'json_schema.schema', '.metadata', '.prediction']);

const PLACES: Places = {
  promptOrder: ['tools', 'functions', 'messages', 'prompt'],
  roleOf(text, name, parent) {
    const isId = name === 'tool_call_id' || (name === 'id' && parent === 'tool_calls');
    return isId && OPAQUE_ID.test(text) ? 'pair' : undefined;
  },
  isJson: (name, parent) => name === 'arguments' && (parent === 'function' || parent === 'function_call'),
  mediaOf: (object, name, listed) => (listed && name === 'content' ? mediaOfPart(object) : undefined),
  isBareMedia: (name) => name === 'data' || name === 'file_data',
  isTokens: (name, parent) => parent === '' && TOKEN_LISTS.has(name),
  isOwn: (name, parent) => OWN.has(`${parent}.${name}`),
};

/** Every string of a chat request that can leave; ids that pair a tool call with its result are structural. */
export function contents(document: WireDocument): Contents {
  return collectContents(document, PLACES);
}

function mediaOfPart(part: ObjectNode): Media['kind'] | undefined {
  const type = member(part, 'type');
  if (type?.kind !== 'string' || TEXT_PARTS.has(type.value)) return undefined;
  if (type.value.includes('image')) return 'image';
  return type.value.includes('audio') ? 'audio' : 'file';
}
