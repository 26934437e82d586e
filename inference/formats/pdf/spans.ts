import type { Replacement } from '#ports/documents.ts';
import { findOriginals } from '../../originals.ts';
import type { Glyph } from './glyphs.ts';
import { unitId } from './layout.ts';
import type { PageContent } from './page.ts';

/** Letters that go, and what is written in their place. */
export interface Span {
  readonly glyphs: readonly Glyph[];
  /** Empty: nothing. */
  readonly tag: string;
}

/**
 * What goes from a page: what is to be replaced, and wherever else one of the originals stands, be it over the ends of
 * paragraphs. Each letter is in one span.
 */
export function spansOf(
  index: number,
  { paragraphs }: PageContent,
  replacements: ReadonlyMap<string, readonly Replacement[]>,
  originals: readonly string[],
): readonly Span[] {
  const taken = new Set<Glyph>();
  const spans: Span[] = [];
  const tags = new Map<string, string>();
  const take = (glyphs: readonly (Glyph | undefined)[], tag: string): void => {
    const fresh = glyphs.filter((glyph) => glyph !== undefined).filter((glyph) => !taken.has(glyph));
    for (const glyph of fresh) taken.add(glyph);
    if (fresh.length > 0) spans.push({ glyphs: [...new Set(fresh)], tag });
  };
  for (const [at, { text, glyphs }] of paragraphs.entries()) {
    for (const { start, end, tag } of replacements.get(unitId(index, at)) ?? []) {
      tags.set(text.slice(start, end).toLowerCase(), tag);
      take(glyphs.slice(start, end), tag);
    }
  }
  const text = paragraphs.map((paragraph) => paragraph.text).join('\n');
  const glyphs = paragraphs.flatMap((paragraph, at) => (at > 0 ? [undefined, ...paragraph.glyphs] : paragraph.glyphs));
  for (const original of originals) {
    for (const { start, end } of findOriginals(text, [original]))
      take(glyphs.slice(start, end), tags.get(original.toLowerCase()) ?? '');
  }
  return spans;
}

/** Tags are written where originals stood: none of them is one, whatever it is called. */
export function withoutTags(text: string): string {
  return text.replace(/«\s*[\p{L}\p{N}_\s]{1,60}?_\s*\d+\s*»/gu, ' ');
}
