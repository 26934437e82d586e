import type { Replacement } from '#/ports/documents.ts';
import { findOriginals } from '../originals.ts';
import type { Glyph } from './glyphs.ts';
import { unitId } from './layout.ts';
import type { PageContent } from './page.ts';
import type { Paragraph } from './paragraphs.ts';

/** Letters to remove, and their replacement. */
export interface Span {
  readonly glyphs: readonly Glyph[];
  /** Empty: nothing. */
  readonly tag: string;
}

/** Letters in the order in which a page draws them: there a text that is drawn over another one is whole. */
export function asWritten(written: readonly Glyph[]): Pick<Paragraph, 'text' | 'glyphs'> {
  let text = '';
  const glyphs: (Glyph | undefined)[] = [];
  for (const glyph of written) {
    if (glyph.apart) glyphs.push(undefined);
    for (let unit = 0; unit < glyph.text.length; unit++) glyphs.push(glyph);
    text += glyph.apart ? ` ${glyph.text}` : glyph.text;
  }
  return { text, glyphs };
}

/**
 * Parts of a page to remove: texts to replace, and all other places of the originals, also across the ends of
 * paragraphs, or under another text. Each letter is in one span.
 */
export function spansOf(
  index: number,
  content: PageContent,
  replacements: ReadonlyMap<string, readonly Replacement[]>,
  originals: readonly string[],
): readonly Span[] {
  const { paragraphs } = content;
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
  const asRead = {
    text: paragraphs.map((paragraph) => paragraph.text).join('\n'),
    glyphs: paragraphs.flatMap((paragraph, at) => (at > 0 ? [undefined, ...paragraph.glyphs] : paragraph.glyphs)),
  };
  for (const { text, glyphs } of [asRead, asWritten(content.glyphs)]) {
    for (const { start, end, original } of findOriginals(text, originals))
      take(glyphs.slice(start, end), tags.get(original.toLowerCase()) ?? '');
  }
  return spans;
}

/** Tags are written where originals stood: none of them is one, whatever it is called. */
export function withoutTags(text: string): string {
  return text.replace(/«\s*[\p{L}\p{N}_\s]{1,60}?_\s*\d+\s*»/gu, ' ');
}
