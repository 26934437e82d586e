import { GatewayError } from '#/errors/gateway-error.ts';
import type { ResolvedPolicy } from '#/config/snapshot.ts';
import type { Contents, Leaf } from '#/wire/hub/codec.ts';
import { NotAJsonObject, render, setString, type Edit } from '#/wire/document/document.ts';
import type { AttachedFile } from './attachments/attached-file.ts';
import type { Match } from './match.ts';
import { IN_A_FILE } from './restore/conversation.ts';
import type { Rewrite } from './rewrite.ts';
import { looksLikeEscapedJson } from '#/wire/document/json.ts';
import { readLargeRoot } from '#/wire/document/large-json.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import { plainNumber } from '#/wire/request/plain-number.ts';
import { scan, type JsonNode } from '#/wire/document/scan.ts';
import type { Steps } from '#/wire/document/steps.ts';

/** A leaf, or a JSON text within one with the leaves of its own. */
export interface Text {
  readonly leaf: Leaf;
  readonly inner: { readonly text: string; readonly texts: readonly Text[] } | undefined;
}

/** How deep JSON within JSON within JSON is followed. */
const MAX_NESTING = 4;
/** Leaves of all JSON within texts: each is remembered with its place. */
const MAX_INNER = 150_000;
const LEAVES_A_STEP = 256;

/** The leaves of a request with those of the JSON within them; `leaves`: those that are searched (`lowest`). */
export function* flatten(
  contents: Pick<Contents, 'leaves'>,
): Steps<{ readonly texts: readonly Text[]; readonly leaves: readonly Leaf[] }> {
  const texts: Text[] = [];
  const leaves: Leaf[] = [];
  const count = { inner: 0 };
  for (const leaf of contents.leaves) {
    if (texts.length % LEAVES_A_STEP === LEAVES_A_STEP - 1) yield;
    const inner = leaf.kind === 'json' && !leaf.signed ? yield* readInner(leaf, count) : undefined;
    texts.push({ leaf, inner });
    if (inner) lowest(inner.texts, leaves);
    else leaves.push(leaf);
  }
  return { texts, leaves };
}

/** A JSON text as its leaves, whatever value it is; text that is no JSON is inspected as text. */
function* readInner(
  { text, skipped }: Pick<Leaf, 'text' | 'skipped'>,
  count: { inner: number },
  depth = 1,
): Steps<Text['inner']> {
  const root = isLarge(text) ? yield* scanLarge(text) : scanJson(text);
  if (root === undefined) return undefined;
  const texts: Text[] = [];
  const leaves = innerLeaves(root);
  count.inner += leaves.length;
  if (count.inner > MAX_INNER) throw tooLarge();
  for (const inside of leaves) {
    if (texts.length % LEAVES_A_STEP === LEAVES_A_STEP - 1) yield;
    const leaf = skipped ? { ...inside, skipped } : inside;
    const nested = depth < MAX_NESTING && looksLikeEscapedJson(leaf.text);
    texts.push({ leaf, inner: nested ? yield* readInner(leaf, count, depth + 1) : undefined });
  }
  return { text, texts };
}

/** Members named twice are all leaves: whichever one a reader takes, it was inspected. */
function scanJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
    return scan(text, { lenient: true });
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw tooLarge(thrown);
  }
}

function* scanLarge(text: string): Steps<JsonNode | undefined> {
  try {
    return yield* readLargeRoot(text, { lenient: true });
  } catch (thrown) {
    if (thrown instanceof NotAJsonObject) return undefined;
    throw tooLarge(thrown);
  }
}

function tooLarge(cause?: unknown): GatewayError {
  const message = 'A text in the request contains JSON that is too deep or too large to inspect.';
  return new GatewayError('invalid_request', message, {}, { cause });
}

function innerLeaves(root: JsonNode): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode, inJson: 'name' | 'value'): void => {
    if (node.kind === 'string') found.push({ node, text: node.value, kind: 'text', inJson });
    else if (node.kind === 'number') found.push({ node, text: plainNumber(node.source), kind: 'text', inJson });
    else if (node.kind === 'array') for (const item of node.items) visit(item, 'value');
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        visit(key, 'name');
        visit(value, 'value');
      }
    }
  };
  visit(root, 'value');
  return found;
}

/** The leaves that are searched: those of JSON within a text instead of the text. */
export function lowest(texts: readonly Text[], found: Leaf[] = []): readonly Leaf[] {
  for (const { leaf, inner } of texts) {
    if (inner) lowest(inner.texts, found);
    else found.push(leaf);
  }
  return found;
}

/** Rewrites texts, and numbers the tags of files where they stand: the same beginning of a prompt has the same tags. */
export function* writeInOrder(
  texts: readonly Text[],
  matches: Iterator<readonly Match[], undefined>,
  rewrite: Rewrite,
  attached: readonly AttachedFile[],
  { documents }: ResolvedPolicy['dlp'],
): Steps<readonly Edit[]> {
  const edits: Edit[] = [];
  let at = 0;
  const anonymized = documents === 'anonymize';
  for (const file of attached) {
    for (const one of yield* writeEdits(texts.slice(at, file.leaves), matches, rewrite, anonymized)) edits.push(one);
    rewrite.place = IN_A_FILE;
    rewrite.file = file.place.part.start;
    for (const one of file.tag()) edits.push(one);
    rewrite.file = undefined;
    at = file.leaves;
  }
  for (const one of yield* writeEdits(texts.slice(at), matches, rewrite, anonymized)) edits.push(one);
  return edits;
}

/** Takes the matches of the leaf texts in their order; a text with JSON in it is rewritten from the inside. */
export function* writeEdits(
  texts: readonly Text[],
  matches: Iterator<readonly Match[], undefined>,
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
      rewrite.look(leaf.text, matches.next().value!, leaf.signed);
      continue;
    }
    let edit: Edit | undefined;
    if (inner) {
      edit = editOfInner(leaf, render(inner.text, yield* writeEdits(inner.texts, matches, rewrite, false, place)));
    } else {
      const found = matches.next().value!;
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
