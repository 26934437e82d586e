import type { DocumentEngine, OnPages, ReadDocument, RedactedDocument } from '#/ports/documents.ts';
import { NAME_CATEGORIES } from '../names/detect-names.ts';
import { findInDocument, type DocumentFindings, type DocumentScope } from './document-text.ts';
import type { Detection } from '../detection.ts';
import type { TagTable } from '../tags.ts';

/** A document from which something was taken out, and what that was. */
export interface Searched {
  readonly document: RedactedDocument;
  readonly found: DocumentFindings;
}

/** Who reads and searches, and the tags that were given out so far. */
export interface Looking {
  readonly engine: Pick<DocumentEngine, 'read' | 'redact'>;
  readonly detection: Detection;
  readonly tags: TagTable;
  readonly signal: AbortSignal;
  /** Told of the pages that are read again. */
  readonly onPages?: OnPages | undefined;
}

/**
 * Texts that must not remain in a result: the matches and, if all of a document was recognized, every term as well,
 * since a term that was unreadable before may be readable in it.
 */
export function originalsOf(
  found: Pick<DocumentFindings, 'originals'>,
  { pages, recognizedPages }: Pick<ReadDocument, 'pages' | 'recognizedPages'>,
  terms: DocumentScope['terms'],
): readonly string[] {
  const named = recognizedPages.length === pages ? terms.map(({ term }) => term) : [];
  return [...new Set([...found.originals, ...named])];
}

/**
 * Reads the recognized pages of a result and searches them once more, because text next to a covered stretch may be
 * read differently than before: new matches are removed, too. For names, only the terms are searched: a model would
 * take tags that were misread for some. Rejects as the engine and the search do.
 */
export async function lookAgain(
  { document, found }: Searched,
  scope: Pick<DocumentScope, 'terms'> & { readonly categories: ReadonlySet<string> },
  { engine, detection, tags, signal, onPages }: Looking,
): Promise<Searched> {
  const file = { name: '', mediaType: document.mediaType, bytes: document.bytes };
  const read = await engine.read(file, { recognize: 'auto' }, signal, onPages);
  const { recognizedPages, layout } = read;
  const seen = read.units.filter(
    ({ page = -1, visibility }) => visibility === 'shown' && recognizedPages.includes(page),
  );
  const categories = new Set([...scope.categories].filter((category) => !NAME_CATEGORIES.has(category)));
  const more = await findInDocument(seen, { terms: scope.terms, categories, recognizedPages }, detection, tags);
  if (more.replacements.length === 0) return { document, found };
  const originals = [...new Set([...found.originals, ...more.originals])];
  const wanted = { layout, replacements: more.replacements, originals: originalsOf({ originals }, read, scope.terms) };
  const { bytes } = await engine.redact(file, wanted, signal);
  const findings: Record<string, number> = { ...found.findings };
  for (const [category, times] of Object.entries(more.findings)) findings[category] = (findings[category] ?? 0) + times;
  return { document: { ...document, bytes }, found: { ...found, originals, findings, mapping: more.mapping } };
}
