import type { Contents, Leaf, Media } from '../codec.ts';
import { isExtension, type WireDocument } from '../document.ts';
import type { JsonNode, StringNode } from '../scan.ts';

/** Top-level members in the order a model reads them; members not named here come last, as written. */
const PROMPT_ORDER = ['tools', 'functions', 'messages', 'prompt'];

/** Long enough to be an account or card number written as a JSON number. */
const ACCOUNT_DIGITS = 12;

/** An id as every vendor makes them; anything else in an id's place is read as text. */
const OPAQUE_ID = /^[A-Za-z0-9_-]{1,64}$/;

const MEDIA_MEMBERS: Readonly<Record<string, { readonly within: string; readonly kind: Media['kind'] }>> = {
  url: { within: 'image_url', kind: 'image' },
  file_data: { within: 'file', kind: 'file' },
  data: { within: 'input_audio', kind: 'audio' },
};

/**
 * Every string of a chat request that can leave, save: the model id, ids that pair a tool call with its result, and the bytes of
 * inline media, which are reported as media instead.
 */
export function contents(document: WireDocument): Contents {
  const walk = new Walk();
  const members = [...document.root.members].sort((a, b) => rank(a.key.value) - rank(b.key.value));
  for (const { key, value } of members) {
    if (isExtension(key.value)) continue;
    walk.key(key);
    if (key.value !== 'model') walk.value(value, key.value, '');
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

  /** `name`: the member this value belongs to, also for the items of its array; `parent`: the member around that. */
  value(node: JsonNode, name: string, parent: string): void {
    switch (node.kind) {
      case 'string':
        this.#string(node, name, parent);
        return;
      case 'number':
        if (node.source.length >= ACCOUNT_DIGITS) this.leaves.push({ node, text: node.source, kind: 'text' });
        return;
      case 'array':
        for (const item of node.items) this.value(item, name, parent);
        return;
      case 'object':
        for (const { key, value } of node.members) {
          this.key(key);
          this.value(value, key.value, name);
        }
        return;
      case 'literal':
        return;
    }
  }

  #string(node: StringNode, name: string, parent: string): void {
    const text = node.value;
    const media = MEDIA_MEMBERS[name];
    if (media !== undefined && media.within === parent) {
      const inline = media.kind !== 'image' || text.startsWith('data:');
      this.media.push({ kind: media.kind, source: inline ? 'inline' : 'remote', length: text.length });
      if (inline) return;
    }
    const isId = name === 'tool_call_id' || (name === 'id' && parent === 'tool_calls');
    if (isId && OPAQUE_ID.test(text)) return;
    const json = name === 'arguments' && (parent === 'function' || parent === 'function_call');
    this.leaves.push({ node, text, kind: json ? 'json' : 'text' });
  }
}
