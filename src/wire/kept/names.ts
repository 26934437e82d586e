import { readDocument, render, setString, type Family } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { says } from '../hub/defined-members.ts';
import { member, type JsonNode } from '../document/scan.ts';
import { finish, type Steps } from '../document/steps.ts';
import { MEMBERS, NOT_KEPT, ZONES, type KeptKind, type MemberRule, type Zone } from './table.ts';

/** An object that a request names. */
export interface KeptName {
  /** As the request says it, with the provider's prefix if it has one; a data source has none. */
  readonly id: string;
  /** `unknown`: a member that looks like an id and is not classified. */
  readonly kind: KeptKind | 'unknown';
  /** The request itself contains the content stored under the id. */
  readonly replaceable: boolean;
  /** Where it stands: names of members and numbers of items. */
  readonly at: Place;
}

export type Place = readonly (string | number)[];

/** A place as clients see it: `input[0].file_id`. */
export function paramOf(at: Place): string {
  return at.map((step, index) => (typeof step === 'number' ? `[${step}]` : (index === 0 ? '' : '.') + step)).join('');
}

/** The node of a place. */
function nodeAt(root: JsonNode, at: Place): JsonNode | undefined {
  let node: JsonNode | undefined = root;
  for (const step of at) {
    if (typeof step === 'string') node = member(node, step);
    else node = node?.kind === 'array' ? node.items[step] : undefined;
  }
  return node;
}

/** Between a provider's slug and its own id: no slug has it, and no URL needs it escaped. */
export const ID_SEPARATOR = '~';

const RULES = byName(MEMBERS);
const ZONES_BY_NAME = byName(ZONES);
const LOOKS_LIKE_ID = /^[\w-]{1,60}(?:_ids?|[a-z]Ids?)$/;

/** The last letters identify most names, which costs less than the pattern. */
function looksLikeId(name: string, lower: string): boolean {
  return (lower.endsWith('id') || lower.endsWith('ids')) && LOOKS_LIKE_ID.test(name);
}

/** Beyond this a body is parsed, which costs less than to look at each quotation mark of a text that is full of them. */
const LARGE = 65_536;

/**
 * Whether a body can name anything: members that only ever pair things are left out, and a name that is written with
 * escapes counts as any. Cheap, and never wrong in saying no.
 */
export function mayName(family: Family, text: string): boolean {
  return text.length > LARGE || (family === 'responses' ? MAY_NAME_ITEM : MAY_NAME).test(text);
}

const PAIRING = 'tool_call_id|call_id|tool_use_id|toolUseId|user_id';
const OBJECTS = 'conversation|container|cached_?content|data_sources|fileids?';
const MEMBER_NAME = `"(?!(?:${PAIRING})")(?:[\\w-]{0,60}(?:_ids?|[a-z]Ids?)|${OBJECTS})"\\s*:`;
/** An escaped letter or sign of ASCII may be a part of a member's name. */
const ESCAPED = '\\\\u00[2-7]';
const HOLDERS = '"(?:audio|voice|prompt|videos?|characters?)"\\s*:\\s*[[{]';
const MAY_NAME = new RegExp(`${MEMBER_NAME}|${HOLDERS}|${ESCAPED}`, 'i');
const MAY_NAME_ITEM = new RegExp(`${MEMBER_NAME}|"id"\\s*:|${HOLDERS}|${ESCAPED}`, 'i');

/** Every object that a request body names, in the order of the text. */
export function namesIn(family: Family, body: JsonObject): readonly KeptName[] {
  return finish(nameSteps(family, body));
}

/** As `namesIn`, in steps. */
export function* nameSteps(family: Family, body: JsonObject): Steps<readonly KeptName[]> {
  const search = new Search(family);
  yield* search.body(body);
  return search.names;
}

/** Every object that the text of a body names. */
export function namesInText(family: Family, text: string): readonly KeptName[] {
  return mayName(family, text) ? namesIn(family, JSON.parse(text) as JsonObject) : [];
}

/** A place as it is walked; most are left without anything to be named there. */
interface Step {
  readonly step: string | number;
  readonly parent: Step | undefined;
}

function placeOf(last: Step): Place {
  const place: (string | number)[] = [];
  for (let at: Step | undefined = last; at; at = at.parent) place.push(at.step);
  return place.reverse();
}

/** An object or a list that is looked through; `holder`: the member that holds it, in lower case. */
type Inside = { readonly length: number; at: number; readonly holder: string; readonly parent: Step | undefined } & (
  | { readonly items: readonly Json[] }
  | { readonly object: JsonObject; readonly entries: readonly (readonly [string, Json | undefined])[] }
);

const VALUES_A_STEP = 256;

class Search {
  readonly names: KeptName[] = [];
  readonly #family: Family;

  constructor(family: Family) {
    this.#family = family;
  }

  /** Looks at all that stands in a body, in the order of its text. */
  *body(body: JsonObject): Steps<void> {
    const around: Inside[] = [];
    let looked = 0;
    for (let inside = this.#enter(body, '', undefined); inside;) {
      if (inside.at >= inside.length) {
        inside = around.pop();
        continue;
      }
      if (++looked % VALUES_A_STEP === 0) yield;
      const next = this.#next(inside);
      if (!next) continue;
      around.push(inside);
      inside = next;
    }
  }

  #enter(value: Json | undefined, holder: string, parent: Step | undefined): Inside | undefined {
    if (Array.isArray(value)) {
      const items = value as readonly Json[];
      return { items, length: items.length, at: 0, holder, parent };
    }
    if (!isObject(value)) return undefined;
    const entries = Object.entries(value);
    return { object: value, entries, length: entries.length, at: 0, holder, parent };
  }

  /** Looks at the next value in something, and enters it if anything can stand in it. */
  #next(inside: Inside): Inside | undefined {
    const { holder, parent } = inside;
    const at = inside.at++;
    if ('items' in inside) {
      const item = inside.items[at];
      return typeof item === 'object' ? this.#enter(item, holder, { step: at, parent }) : undefined;
    }
    const { object } = inside;
    const [name, value] = inside.entries[at]!;
    const lower = name.toLowerCase();
    if (ZONES_BY_NAME.get(lower)?.some((zone) => applies(zone, this.#family, object)) === true) return undefined;
    const here: Step = { step: name, parent };
    const rules = RULES.get(lower);
    const rule = rules?.find((one) => isInside(one, holder) && applies(one, this.#family, object));
    if (rule?.anyValue) this.#any(value, rule.kind, here);
    else if (rule) this.#collect(value, rule.kind, here, rule.replaceable?.(object) === true);
    else if (!rules && looksLikeId(name, lower) && !NOT_KEPT.has(lower)) this.#collect(value, 'unknown', here, false);
    return typeof value === 'object' ? this.#enter(value, lower, here) : undefined;
  }

  #any(value: Json | undefined, kind: KeptName['kind'], at: Step): void {
    if (says(value)) this.names.push({ id: '', kind, at: placeOf(at), replaceable: false });
  }

  #collect(value: Json | undefined, kind: KeptName['kind'], at: Step, replaceable: boolean): void {
    if (Array.isArray(value)) {
      for (const [index, item] of (value as readonly Json[]).entries())
        this.#collect(item, kind, { step: index, parent: at }, replaceable);
    } else if ((typeof value === 'string' && value !== '') || typeof value === 'number') {
      this.names.push({ id: String(value), kind, at: placeOf(at), replaceable });
    }
  }
}

function isInside({ inside }: MemberRule, holder: string): boolean {
  return inside === undefined || inside.includes(holder);
}

function applies({ families, when }: MemberRule | Zone, family: Family, around: JsonObject): boolean {
  return (families === undefined || families.includes(family)) && (when === undefined || when(around));
}

function byName<T extends { readonly names: readonly string[] }>(
  rules: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>();
  for (const rule of rules) for (const name of rule.names) found.set(name, [...(found.get(name) ?? []), rule]);
  return found;
}

/** The text of a body with other ids in these places, as `idOf` says; undefined: as it is. */
export function withIds(
  family: Family,
  text: string,
  names: readonly KeptName[],
  idOf: (name: KeptName) => string | undefined,
): string {
  const changed = names.flatMap((name) => {
    const id = idOf(name);
    return id === undefined ? [] : [{ id, at: name.at }];
  });
  if (changed.length === 0) return text;
  const { root } = readDocument(family, text);
  const edits = changed.flatMap(({ id, at }) => {
    const node = nodeAt(root, at);
    return node?.kind === 'string' ? [setString(node, id)] : [];
  });
  return render(text, edits);
}

/** The id as the provider knows it, where it has the provider's slug before it. */
export function withoutPrefix(id: string, slug: string): string | undefined {
  const prefix = slug + ID_SEPARATOR;
  return id.startsWith(prefix) ? id.slice(prefix.length) : undefined;
}
