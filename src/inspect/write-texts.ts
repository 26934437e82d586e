import type { ResolvedPolicy } from '#/config/snapshot.ts';
import type { Leaf } from '#/wire/hub/codec.ts';
import { render, setString, type Edit } from '#/wire/document/document.ts';
import type { Steps } from '#/wire/document/steps.ts';
import type { AttachedFile } from './attachments/attached-file.ts';
import { IN_A_FILE } from './restore/conversation.ts';
import type { Span } from './detectors/detector.ts';
import type { Text } from './leaf-texts.ts';
import type { Rewrite } from './rewrite.ts';

const LEAVES_A_STEP = 256;

/** Rewrites texts, and numbers the tags of files where they stand: the same beginning of a prompt has the same tags. */
export function* writeInOrder(
  texts: readonly Text[],
  spans: Iterator<readonly Span[], undefined>,
  rewrite: Rewrite,
  attached: readonly AttachedFile[],
  { documents }: ResolvedPolicy['dlp'],
): Steps<readonly Edit[]> {
  if (attached.length === 0) return yield* writeEdits(texts, spans, rewrite);
  const edits: Edit[] = [];
  let at = 0;
  const anonymized = documents === 'anonymize' && attached.length > 0;
  for (const file of attached) {
    for (const one of yield* writeEdits(texts.slice(at, file.leaves), spans, rewrite, anonymized)) edits.push(one);
    rewrite.place = IN_A_FILE;
    rewrite.file = file.place.part.start;
    for (const one of file.tag()) edits.push(one);
    rewrite.file = undefined;
    at = file.leaves;
  }
  for (const one of yield* writeEdits(texts.slice(at), spans, rewrite, anonymized)) edits.push(one);
  return edits;
}

/** Takes the spans of the leaf texts in their order; a text with JSON in it is rewritten from the inside. */
function* writeEdits(
  texts: readonly Text[],
  spans: Iterator<readonly Span[], undefined>,
  rewrite: Rewrite,
  anonymized = false,
  within?: number,
): Steps<readonly Edit[]> {
  const edits: Edit[] = [];
  let count = 0;
  for (const { leaf, inner } of texts) {
    if (++count % LEAVES_A_STEP === 0) yield;
    const place = within ?? leaf.node.start;
    rewrite.place = place;
    if (leaf.signed) {
      rewrite.look(leaf.text, spans.next().value!, leaf.signed);
      continue;
    }
    let edit: Edit | undefined;
    if (inner) {
      edit = editOfInner(leaf, render(inner.text, yield* writeEdits(inner.texts, spans, rewrite, false, place)));
    } else {
      const found = spans.next().value!;
      const isTag = anonymized && leaf.ofFile === true;
      if (rewrite.mayChange(leaf.text, found)) edit = yield* rewrite.edit(leaf, found, isTag);
    }
    if (edit) edits.push(edit);
  }
  return edits;
}

function editOfInner({ node, text }: Leaf, written: string): Edit | undefined {
  return written === text ? undefined : setString(node, written);
}
