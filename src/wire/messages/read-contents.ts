import type { Contents, Media } from '../hub/codec.ts';
import type { WireDocument } from '../document/document.ts';
import { member, type ObjectNode } from '../document/scan.ts';
import { collectContents, type Places } from '../request/collect-contents.ts';

/** An id as every vendor makes them; anything else in an id's place is read as text. */
const OPAQUE_ID = /^[A-Za-z0-9_-]{1,128}$/;
/** Bytes that only their maker can read, and refuses when one of them is changed. */
const SEALED = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** What a signed block is signed with. */
const PROOFS = new Set(['signature', 'data']);
/** What server tools have sealed for later turns. */
const SEALED_NAMES = new Set(['encrypted_content', 'encrypted_index', 'encrypted_stdout']);

/** Members around it. */
const SEALED_IN = new Set(['content', 'citations']);

const PLACES: Places = {
  promptOrder: ['tools', 'system', 'messages'],
  roleOf(text, name, parent, signed) {
    const isSealed = signed
      ? parent === 'content' && PROOFS.has(name)
      : SEALED_NAMES.has(name) && SEALED_IN.has(parent);
    if (isSealed) return SEALED.test(text) ? 'sealed' : undefined;
    if (signed || SEALED_NAMES.has(name)) return undefined;
    const isId =
      (parent === 'content' && (name === 'id' || name === 'tool_use_id')) ||
      (parent === 'caller' && name === 'tool_id');
    return isId && OPAQUE_ID.test(text) ? 'pair' : undefined;
  },
  mediaOf: (object, name, listed) => (listed && name === 'content' ? mediaOfBlock(object) : undefined),
  isBareMedia: (name) => name === 'data',
  isSigned: (object, name, parent) => name === 'content' && parent === 'messages' && isThinking(member(object, 'type')),
  own: new Map([
    ['input', ['content']],
    ['input_schema', ['tools']],
  ]),
};

/**
 * Every string of a messages request that can leave. Structural are ids that pair a call with its result, proofs of
 * thinking and what server tools have sealed; thinking itself is looked at but never rewritten. // spec 4.5.4
 */
export function contents(document: WireDocument): Contents {
  return collectContents(document, PLACES);
}

function isThinking(type: ReturnType<typeof member>): boolean {
  return type?.kind === 'string' && (type.value === 'thinking' || type.value === 'redacted_thinking');
}

function mediaOfBlock(block: ObjectNode): Media['kind'] | undefined {
  const type = member(block, 'type');
  if (type?.kind !== 'string') return undefined;
  if (type.value === 'image') return 'image';
  if (type.value !== 'document') return undefined;
  // A document may also be a text, or blocks of its own.
  const source = member(member(block, 'source'), 'type');
  return source?.kind === 'string' && source.value !== 'text' && source.value !== 'content' ? 'file' : undefined;
}
