import {
  BadRequestShape,
  type Contents,
  type IdLeaf,
  type IdRole,
  type Leaf,
  type Media,
  type TokenList,
} from '../hub/codec.ts';
import { EXTENSION, type WireDocument } from '../document/document.ts';
import { looksLikeEscapedJson } from '../document/json.ts';
import { mayBeWords } from './media-fields.ts';
import { headOf, isBase64, isDocument, looksLikeDataUrl, readDataUrl } from './media.ts';
import { hasAccountDigits, MAY_BE_ACCOUNT, plainNumber } from './plain-number.ts';
import type { ArrayNode, JsonNode, Member, ObjectNode, StringNode } from '../document/scan.ts';

/**
 * What a family knows about the places of its request. `parent` is the member around `name`; arrays are looked through. A
 * name of '' is the top, never a member that is called so.
 */
export interface Places {
  /** Nothing at the top is the gateway's own: neither the model id nor `gw` members. */
  readonly isForeign?: boolean;
  /** Top-level members in the order a model reads them; members not named here come last, as written. */
  readonly promptOrder: readonly string[];
  /** What a string in this place is that is no text at all: an id, sealed bytes. `signed`: as below. */
  roleOf(text: string, name: string, parent: string, signed: boolean): IdRole | undefined;
  /** Whether a member's name is a word of the family's own: `name` is the member around its object, `parent` around that. */
  isWord?(word: string, name: string, parent: string): boolean;
  /** Members whose strings are JSON of their own; absent: none. */
  readonly json?: MembersByName;
  /** What an object carries if it is content that is not text. `listed`: it is an item of an array. */
  mediaOf(object: ObjectNode, name: string, listed: boolean): Media['kind'] | undefined;
  /** What a string of this member is, if it is content that is not text though nothing around it says so. */
  mediaIn?(text: string, name: string, parent: string): Media['kind'] | undefined;
  /** Whether a list of numbers in this member is a text in tokens. */
  isTokens?(name: string, parent: string): boolean;
  /** Whether media in this member may be bare base64, without a `data:` prefix. */
  isBareMedia(name: string): boolean;
  /** Whether an object of a list is a signed block, to be sent as it is or not at all. */
  isSigned?(object: ObjectNode, name: string, parent: string): boolean;
  /** Members whose content is the client's own through and through: nothing in it is structural or media. */
  readonly own?: MembersByName;
  /** Every member is the client's own in this way. */
  readonly isAllOwn?: boolean;
}

/** Members by name, each with the members around it that it counts in; '': the top. */
export type MembersByName = ReadonlyMap<string, readonly string[]>;

/** What a member called '' is to its family, for which '' is the top: no family has a member of this name. */
const UNNAMED = '""';

function nameOf({ key }: Member): string {
  return key.value === '' ? UNNAMED : key.value;
}

/** What a value stands in. */
interface Around {
  /** What the content around it carries, if it is not text. */
  readonly media?: Media['kind'];
  /** The object that carries the media. */
  readonly part?: ObjectNode;
  readonly listed?: boolean;
  readonly signed?: ObjectNode;
  readonly own?: boolean;
}

const NOTHING_AROUND: Around = {};
const OWN: Around = { own: true };

/** What servers of open models call a prompt in tokens. */
export const TOKEN_LISTS: ReadonlySet<string> = new Set(['prompt_token_ids', 'input_ids', 'token_ids']);

const REMOTE_MEDIA = /^\s*[a-z][a-z0-9+.-]*:\/\//i;
/** Members of content that is not text which hold its address or its bytes in one. */
const ADDRESS = /ur[li]$/i;
/** What content that is not text is called: words, whatever they begin with. */
const WORDS: ReadonlySet<string> = new Set([
  'filename',
  'title',
  'document_name',
  'name',
  'context',
  'text',
  'file_id',
]);

/** Members that are ids, of users and calls: they contain no words of a language. */
const IDS: ReadonlySet<string> = new Set([
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id', 'previous_response_id', 'conversation'],
  ...['user', 'user_id', 'end_user_id', 'safety_identifier', 'session_id', 'prompt_cache_key'],
]);

/**
 * Every string of a request that can leave, save: the model id, what its family calls structural, and the bytes of
 * inline media, which are reported as media instead. Throws `BadRequestShape` for media that is spelled so that a
 * provider may read content that was not inspected.
 */
export function collectContents(document: WireDocument, places: Places): Contents {
  const found = new Walk(places);
  for (const one of inOrder(document.root, places.promptOrder)) {
    const { key, value } = one;
    if (!places.isForeign && EXTENSION.test(key.value)) continue;
    if (places.isWord?.(key.value, '', '') !== true) found.leaf(key, key.value, 'text', undefined);
    const isOwn = places.isAllOwn === true || places.own?.get(key.value)?.includes('') === true;
    const around = isOwn ? OWN : NOTHING_AROUND;
    if (places.isForeign || key.value !== 'model') found.value(value, nameOf(one), '', around, false);
  }
  return found;
}

/** The members of a request in the order a model reads them, others last; those of one name as they come. */
function inOrder({ members }: ObjectNode, promptOrder: readonly string[]): ObjectNode['members'] {
  const ordered: Member[] = [];
  for (const name of promptOrder) for (const one of members) if (one.key.value === name) ordered.push(one);
  for (const one of members) if (!promptOrder.includes(one.key.value)) ordered.push(one);
  return ordered;
}

class Walk implements Contents {
  readonly leaves: Leaf[] = [];
  readonly media: Media[] = [];
  ids?: IdLeaf[];
  tokens?: TokenList[];
  readonly #places: Places;

  constructor(places: Places) {
    this.#places = places;
  }

  /**
   * `name`: the member this value belongs to, also for the items of its array; `parent`: the member around that;
   * `listed`: it is an item of an array.
   */
  value(node: JsonNode, name: string, parent: string, around: Around, listed: boolean): void {
    switch (node.kind) {
      case 'string':
        this.#string(node, name, parent, around);
        return;
      case 'number':
        if (MAY_BE_ACCOUNT.test(node.source) && hasAccountDigits(node.source))
          this.leaf(node, plainNumber(node.source), 'text', around.signed);
        return;
      case 'array':
        if (node.items[0]?.kind === 'number' && this.#tokens(node, name, parent, around)) return;
        for (const item of node.items) this.value(item, name, parent, around, true);
        return;
      case 'object': {
        const inside = this.#inside(node, name, parent, around, listed);
        for (const one of node.members) {
          const { key, value } = one;
          if (this.#places.isWord?.(key.value, name, parent) !== true) this.leaf(key, key.value, 'text', inside.signed);
          const isOwn = inside.signed === undefined && this.#places.own?.get(key.value)?.includes(name) === true;
          this.value(value, nameOf(one), name, isOwn ? OWN : inside, false);
        }
        return;
      }
      case 'literal':
        return;
    }
  }

  /** A list that begins with a number is a leaf where it may be tokens. Throws `BadRequestShape` for one that is only partly such a list. */
  #tokens(node: ArrayNode, name: string, parent: string, around: Around): boolean {
    if (around.own || this.#places.isTokens?.(name, parent) !== true) return false;
    const tokens = node.items.map((item) => (item.kind === 'number' ? Number(item.source) : Number.NaN));
    if (!tokens.every((token) => Number.isSafeInteger(token) && token >= 0)) {
      throw new BadRequestShape(`${name} must be a string or an array of tokens (whole numbers from 0)`, name);
    }
    (this.tokens ??= []).push({ node, tokens, leaves: this.leaves.length });
    return true;
  }

  #inside(object: ObjectNode, name: string, parent: string, around: Around, listed: boolean): Around {
    if (around.own || around.signed) return around;
    if (listed && this.#places.isSigned?.(object, name, parent)) return { signed: object };
    const media = this.#places.mediaOf(object, name, listed);
    return media === undefined ? around : { media, part: object, listed };
  }

  #string(node: StringNode, name: string, parent: string, around: Around): void {
    const text = node.value;
    const { part, signed, own } = around;
    const media = around.media ?? (own ? undefined : this.#places.mediaIn?.(text, name, parent));
    if (media !== undefined) {
      const data = this.#inlineData(text, name);
      if (data !== undefined || REMOTE_MEDIA.test(text) || name === 'file_id') {
        const place = part && { node, part, listed: around.listed === true, leaves: this.leaves.length };
        const source = data === undefined ? 'remote' : 'inline';
        this.media.push({ kind: kindOf(media, data), source, length: text.length, ...(place && { place }) });
      }
      // What nothing but its place says to be media is text as well where it may be.
      if (data !== undefined && (part !== undefined || !mayBeWords(data))) return;
    }
    const role = own ? undefined : this.#places.roleOf(text, name, parent, signed !== undefined);
    if (role) {
      (this.ids ??= []).push(signed ? { node, role, signed } : { node, role });
      return;
    }
    const isJson = !own && this.#places.json?.get(name)?.includes(parent) === true;
    const json = isJson || (text.includes('\\') && looksLikeEscapedJson(text));
    const of = media === 'file' ? 'ofFile' : IDS.has(name) ? 'ofId' : undefined;
    this.leaf(node, text, json ? 'json' : 'text', signed, of);
  }

  /** The base64 of bytes in this string; undefined if it has none. */
  #inlineData(text: string, name: string): string | undefined {
    const isWords = WORDS.has(name);
    if (looksLikeDataUrl(text)) {
      const data = readDataUrl(text)?.data;
      if (data !== undefined && isBase64(data)) return data;
      if (isWords) return undefined;
      throw new BadRequestShape(`${name} must be a data: URL in base64 with its media type`, name);
    }
    if (isWords || text === '' || REMOTE_MEDIA.test(text)) return undefined;
    if (this.#places.isBareMedia(name)) {
      if (isBase64(text)) return text;
      throw new BadRequestShape(`${name} must be base64 or a data: URL in base64`, name);
    }
    if (ADDRESS.test(name)) throw new BadRequestShape(`${name} must be a URL or a data: URL`, name);
    return undefined;
  }

  leaf(node: JsonNode, text: string, kind: Leaf['kind'], signed: ObjectNode | undefined, of?: 'ofFile' | 'ofId'): void {
    if (of === 'ofFile') this.leaves.push({ node, text, kind, ofFile: true });
    else if (of === 'ofId' && signed === undefined) this.leaves.push({ node, text, kind, ofId: true });
    else this.leaves.push(signed === undefined ? { node, text, kind } : { node, text, kind, signed });
  }
}

/** A document that calls itself a picture is a file. `data`: its base64, where it is here. */
function kindOf(media: Media['kind'], data: string | undefined): Media['kind'] {
  if (media !== 'image' || data === undefined) return media;
  return isDocument(headOf(data)) ? 'file' : 'image';
}
