import type { Contents, IdRole, Media } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { says } from '../hub/defined-members.ts';
import { member } from '../document/scan.ts';
import { collectContents, type MembersByName, type Places } from '../request/collect-contents.ts';

/** An id as every vendor makes them; anything else in an id's place is read as text. */
const OPAQUE_ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Bytes that only their maker can read, and refuses when one of them is changed. */
const SEALED = /^[A-Za-z0-9+/_-]+={0,2}$/;

const SEALED_NAMES = new Set(['encrypted_content', 'fingerprint']);
const ITEM_IDS = new Set(['id', 'call_id', 'approval_request_id']);

/** Content whose strings are all text. */
const TEXT_PARTS = new Set(['input_text', 'output_text', 'text', 'refusal', 'summary_text', 'reasoning_text', 'logs']);
const MEDIA_TYPES: Readonly<Record<string, Media['kind']>> = {
  input_image: 'image',
  output_image: 'image',
  computer_screenshot: 'image',
  image_generation_call: 'image',
  input_file: 'file',
  input_audio: 'audio',
  output_audio: 'audio',
};
/** Members whose array holds content; its items of unknown types carry media. */
const CONTENT_LISTS = new Set(['content', 'output']);
const BARE_MEDIA = new Set(['data', 'file_data', 'result']);

/** What clients fill as they like: nothing in it is an id or media, whatever it calls itself. */
const OWN: MembersByName = new Map([
  ['parameters', ['tools']],
  ['schema', ['format']],
  ['metadata', ['']],
]);

const PLACES: Places = {
  promptOrder: ['tools', 'instructions', 'input'],
  roleOf(text, name, parent) {
    if (SEALED_NAMES.has(name)) return parent === 'input' && SEALED.test(text) ? 'sealed' : undefined;
    return OPAQUE_ID.test(text) ? idRole(name, parent) : undefined;
  },
  json: new Map([['arguments', ['input']]]),
  mediaOf(object, name, listed) {
    if (name === 'input_image_mask') return 'image';
    const type = member(object, 'type');
    if (type?.kind !== 'string' || TEXT_PARTS.has(type.value)) return undefined;
    if (Object.hasOwn(MEDIA_TYPES, type.value)) return MEDIA_TYPES[type.value];
    if (name === 'outputs' && type.value === 'image') return 'image';
    if (!listed || !CONTENT_LISTS.has(name)) return undefined;
    if (type.value.includes('image')) return 'image';
    return type.value.includes('audio') ? 'audio' : 'file';
  },
  isBareMedia: (name) => BARE_MEDIA.has(name),
  own: OWN,
};

/**
 * Every string of a responses request that can leave. Structural are the ids of items and calls and of what the provider
 * keeps, and what it has sealed for itself.
 */
export function contents(document: WireDocument): Contents {
  const { previous_response_id: previous, conversation } = document.body;
  const found = collectContents(document, PLACES);
  if (!says(previous) && !says(conversation)) return found;
  const { leaves, media, ids = [] } = found;
  return { leaves, media, ids, keptBefore: true };
}

function idRole(name: string, parent: string): IdRole | undefined {
  if (parent === 'input') return ITEM_IDS.has(name) ? 'pair' : undefined;
  if (parent === '') return name === 'previous_response_id' || name === 'conversation' ? 'kept' : undefined;
  if (name === 'caller_id' && parent === 'caller') return 'pair';
  return name === 'id' && parent === 'conversation' ? 'kept' : undefined;
}
