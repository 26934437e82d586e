import type { Leaf } from '#/wire/hub/codec.ts';
import type { Edit } from '#/wire/document/document.ts';
import type { Match } from '../match.ts';
import { tagLiterals } from '../tags.ts';

/** Values that are compared with a conversation at most; what is beyond them counts as not shown. */
const MOST_VALUES = 64;
/** Characters that are compared at most, over all values. */
const MOST_CHARACTERS = 64 * 1024 * 1024;

/** The parts of a find that are no tags and hold a letter or a digit: what the find would tell a provider. */
export function tellingParts(found: string): readonly string[] {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of tagLiterals(found)) {
    parts.push(found.slice(at, start));
    at = end;
  }
  parts.push(found.slice(at));
  return parts.map((part) => part.trim()).filter((part) => /[\p{L}\p{N}]/u.test(part));
}

/** Those of the spans, which are in order, that do not lie within a tag that stands in the text. */
export function outsideTags(text: string, spans: readonly Match[]): readonly Match[] {
  if (spans.length === 0 || !text.includes('«')) return spans;
  const tags = [...tagLiterals(text)];
  let at = 0;
  return spans.filter(({ start, end }) => {
    while (at < tags.length && tags[at]!.end <= start) at++;
    const tag = tags[at];
    return tag === undefined || start < tag.start || end > tag.end;
  });
}

/**
 * Those of the values that stand in the texts as they leave, as whole words: the provider reads them anyway, so that
 * hiding them in another place hides nothing. `edits`: what data protection changes in the texts.
 */
export function shownInClear(
  values: ReadonlySet<string>,
  leaves: readonly Leaf[],
  edits: readonly Edit[],
): ReadonlySet<string> {
  const shown = new Set<string>();
  if (values.size === 0 || values.size > MOST_VALUES) return shown;
  const edited = new Map(edits.map((edit) => [edit.start, edit.text]));
  let left = MOST_CHARACTERS;
  for (const { node, text, signed } of leaves) {
    if (signed) continue;
    left -= text.length * values.size;
    if (left < 0) return shown;
    for (const value of values) {
      if (shown.has(value) || !text.includes(value)) continue;
      if (hasWord(textAfter(edited.get(node.start), text), value)) shown.add(value);
    }
  }
  return shown;
}

function textAfter(edit: string | undefined, text: string): string {
  if (edit === undefined) return text;
  const written: unknown = edit === '' ? '' : JSON.parse(edit);
  return typeof written === 'string' ? written : '';
}

const WORD_BEFORE = /[\p{L}\p{N}\p{M}_]$/u;
const WORD_AFTER = /^[\p{L}\p{N}\p{M}_]/u;

function hasWord(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) {
    const end = at + value.length;
    // Two code units hold any character.
    if (!WORD_BEFORE.test(text.slice(Math.max(0, at - 2), at)) && !WORD_AFTER.test(text.slice(end, end + 2)))
      return true;
  }
  return false;
}
