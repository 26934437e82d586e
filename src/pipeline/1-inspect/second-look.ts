import type { DocumentEngine, RedactedDocument } from '#ports/documents.ts';
import { NAME_CATEGORIES } from './detect-names.ts';
import { searchDocument, tagDocument, type DocumentFindings, type DocumentScope } from './document-text.ts';
import type { Detection } from './inspect.ts';
import type { TagTable } from './tags.ts';

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
}

/**
 * Reads the recognized pages of a result and searches them once more, as what is beside a covered stretch is read
 * otherwise than before: what is found now is taken out, too. For names only the terms are looked for: a model would
 * take tags that were misread for some. Rejects as the engine and the search do.
 */
export async function lookAgain(
  { document, found }: Searched,
  scope: Pick<DocumentScope, 'terms'> & { readonly categories: ReadonlySet<string> },
  { engine, detection, tags, signal }: Looking,
): Promise<Searched> {
  const file = { name: '', mediaType: document.mediaType, bytes: document.bytes };
  const { units, recognizedPages, layout } = await engine.read(file, { recognize: 'auto' }, signal);
  const seen = units.filter(({ page = -1, visibility }) => visibility === 'shown' && recognizedPages.includes(page));
  const categories = new Set([...scope.categories].filter((category) => !NAME_CATEGORIES.has(category)));
  const spans = await searchDocument(seen, { terms: scope.terms, categories, recognizedPages }, detection);
  const more = tagDocument(seen, spans, tags);
  if (more.replacements.length === 0) return { document, found };
  const originals = [...new Set([...found.originals, ...more.originals])];
  const { bytes } = await engine.redact(file, { layout, replacements: more.replacements, originals }, signal);
  const findings: Record<string, number> = { ...found.findings };
  for (const [category, times] of Object.entries(more.findings)) findings[category] = (findings[category] ?? 0) + times;
  return { document: { ...document, bytes }, found: { ...found, originals, findings, mapping: more.mapping } };
}
