import type { Contents, Leaf, Media } from '../codec.ts';
import { isExtension, type WireDocument } from '../document.ts';
import { looksLikeEscapedJson } from '../json.ts';
import { member, type JsonNode, type ObjectNode, type StringNode } from '../scan.ts';

/** Top-level members in the order a model reads them; members not named here come last, as written. */
const PROMPT_ORDER = ['tools', 'functions', 'messages', 'prompt'];

/** Long enough to be an account or card number written as a JSON number. */
const ACCOUNT_DIGITS = 12;

/** An id as every vendor makes them; anything else in an id's place is read as text. */
const OPAQUE_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Content parts whose strings are all text. A part of any other type carries media, known or not. */
const TEXT_PARTS = new Set(['text', 'refusal', 'input_text', 'output_text']);

const INLINE_MEDIA = /^data:[\w.+-]+\/[\w.+-]+(?:;[\w.+=-]+)*;base64,/;
const REMOTE_MEDIA = /^[a-z][a-z0-9+.-]*:\/\//i;
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * Every string of a chat request that can leave, save: the model id, ids that pair a tool call with its result, and the
 * bytes of inline media, which are reported as media instead.
 */
export function contents(document: WireDocument): Contents {
  const walk = new Walk();
  const members = [...document.root.members].sort((a, b) => rank(a.key.value) - rank(b.key.value));
  for (const { key, value } of members) {
    if (isExtension(key.value)) continue;
    walk.key(key);
    if (key.value !== 'model') walk.value(value, key.value, '', undefined);
  }
  return walk;
}

function rank(name: string): number {
  const at = PROMPT_ORDER.indexOf(name);
  return at < 0 ? PROMPT_ORDER.length : at;
}

class Walk implements Contents {
  readonly leaves: Leaf[] = [];
  readonly media: Media[] = [];

  key(node: StringNode): void {
    this.leaves.push({ node, text: node.value, kind: 'text' });
  }

  /**
   * `name`: the member this value belongs to, also for the items of its array; `parent`: the member around that;
   * `media`: what the content part around it carries, if it is not a part of text.
   */
  value(node: JsonNode, name: string, parent: string, media: Media['kind'] | undefined): void {
    switch (node.kind) {
      case 'string':
        this.#string(node, name, parent, media);
        return;
      case 'number':
        if (node.source.length >= ACCOUNT_DIGITS) this.leaves.push({ node, text: node.source, kind: 'text' });
        return;
      case 'array':
        for (const item of node.items) {
          const part = name === 'content' && item.kind === 'object' ? mediaOfPart(item) : undefined;
          this.value(item, name, parent, part ?? media);
        }
        return;
      case 'object':
        for (const { key, value } of node.members) {
          this.key(key);
          this.value(value, key.value, name, media);
        }
        return;
      case 'literal':
        return;
    }
  }

  #string(node: StringNode, name: string, parent: string, media: Media['kind'] | undefined): void {
    const text = node.value;
    if (media !== undefined) {
      const inline = INLINE_MEDIA.test(text) || (name === 'data' && BASE64.test(text));
      if (inline || REMOTE_MEDIA.test(text) || name === 'file_id') {
        this.media.push({ kind: media, source: inline ? 'inline' : 'remote', length: text.length });
      }
      if (inline) return;
    }
    const isId = name === 'tool_call_id' || (name === 'id' && parent === 'tool_calls');
    if (isId && OPAQUE_ID.test(text)) return;
    this.leaves.push({ node, text, kind: isJsonText(text, name, parent) ? 'json' : 'text' });
  }
}

function mediaOfPart(part: ObjectNode): Media['kind'] | undefined {
  const type = member(part, 'type');
  if (type?.kind !== 'string' || TEXT_PARTS.has(type.value)) return undefined;
  if (type.value.includes('image')) return 'image';
  return type.value.includes('audio') ? 'audio' : 'file';
}

/** Tool-call arguments; and text that is JSON with escapes, in which words are spelt otherwise than they read. */
function isJsonText(text: string, name: string, parent: string): boolean {
  if (name === 'arguments' && (parent === 'function' || parent === 'function_call')) return true;
  return looksLikeEscapedJson(text);
}
