import { GatewayError } from '#/errors/gateway-error.ts';
import type { Contents, Leaf } from '#/wire/hub/codec.ts';
import { NotAJsonObject } from '#/wire/document/document.ts';
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

/** The leaves of a request with those of the JSON within them. */
export function* flatten({ leaves }: Pick<Contents, 'leaves'>): Steps<readonly Text[]> {
  const texts: Text[] = [];
  const count = { inner: 0 };
  for (const leaf of leaves) {
    if (texts.length % LEAVES_A_STEP === LEAVES_A_STEP - 1) yield;
    texts.push({ leaf, inner: leaf.kind === 'json' && !leaf.signed ? yield* readInner(leaf, count) : undefined });
  }
  return texts;
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
  const visit = (node: JsonNode): void => {
    if (node.kind === 'string') found.push({ node, text: node.value, kind: 'text' });
    else if (node.kind === 'number') found.push({ node, text: plainNumber(node.source), kind: 'text' });
    else if (node.kind === 'array') for (const item of node.items) visit(item);
    else if (node.kind === 'object') {
      for (const { key, value } of node.members) {
        visit(key);
        visit(value);
      }
    }
  };
  visit(root);
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
