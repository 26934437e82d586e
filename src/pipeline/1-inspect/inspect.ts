import type { CustomTerm, ResolvedPolicy } from '#config/snapshot.ts';
import { GatewayError } from '#errors/gateway-error.ts';
import type { Codec, Contents, Leaf } from '#wire/codec.ts';
import { render, setString, type Edit, type WireDocument } from '#wire/document.ts';
import { looksLikeEscapedJson } from '#wire/json.ts';
import { scan, type JsonNode } from '#wire/scan.ts';
import type { Span } from './detector.ts';
import { mergeActions, type Action } from './merge.ts';
import { tagLiterals, TagTable } from './tags.ts';
import { createTermFinder } from './terms.ts';
import { unreadableReason } from './unreadable.ts';

/** Finds personal data and secrets in texts: at once for small ones, off the event loop for large ones. */
export interface Detection {
  /** What it can find, in upper case. */
  readonly categories: ReadonlySet<string>;
  needsWorker(totalLength: number): boolean;
  findNow(text: string, categories?: ReadonlySet<string>): readonly Span[];
  find(texts: readonly string[], categories?: ReadonlySet<string>): Promise<readonly (readonly Span[])[]>;
}

/** What inspection found, and the edits that keep it in. */
export interface Inspection extends Omit<Contents, 'leaves'> {
  readonly edits: readonly Edit[];
  /** What had to be taken out whole, by name: thinking that must not be rewritten, or that nobody signed. */
  readonly losses: readonly string[];
  /** Category -> number of findings. */
  readonly findings: Readonly<Record<string, number>>;
  /** Kinds of content that could not be read. */
  readonly unscanned: readonly string[];
  readonly tags: TagTable;
}

/** Told what was found before a refusal is thrown, so that the audit row of the refusal has it too. */
export type OnFindings = (findings: Readonly<Record<string, number>>, unscanned: readonly string[]) => void;

/**
 * Inspects a request: every string of it, whatever its place. Mode `block` throws `data_protection`; `tokenize` and
 * `mask` return edits; `allow_log` only counts. Terms to remove become reversible tags in every mode. // spec 1.7, 1.8
 */
export async function inspect(
  document: WireDocument,
  codec: Pick<Codec, 'contents' | 'dropSigned'>,
  policy: ResolvedPolicy['dlp'],
  remove: readonly CustomTerm[],
  detection: Detection,
  onFindings: OnFindings,
): Promise<Inspection> {
  const contents = codec.contents(document);
  const scope = createScope(policy, remove);
  const texts = flatten(contents);
  const spans = await detectAll(texts, policy.entities, detection);
  const findings: Record<string, number> = {};
  const rewrite = new Rewrite(scope, findings);
  const written = writeEdits(texts, spans.values(), rewrite);
  const dropped = codec.dropSigned?.(document, rewrite.flagged) ?? [];
  const unscanned = [...new Set(contents.media.map((item) => item.kind))];
  onFindings(findings, unscanned);
  if (policy.mode === 'block' && rewrite.blocked.size > 0) throw refusal([...rewrite.blocked]);
  refuseUnreadable(unscanned, policy);
  if (contents.keptBefore === true && rewrite.tags.size > 0) throw confusion();
  const losses = dropped.length > 0 ? ['thinking'] : [];
  const { media, keptBefore = false } = contents;
  return { edits: [...written, ...dropped], losses, findings, unscanned, media, tags: rewrite.tags, keptBefore };
}

/** A request that stays in the gateway is not looked through: nothing of it leaves. */
export function uninspected({ media }: Pick<Contents, 'media'>): Inspection {
  return { edits: [], losses: [], findings: {}, unscanned: [], media, keptBefore: false, tags: new TagTable() };
}

interface Scope {
  readonly mode: ResolvedPolicy['dlp']['mode'];
  readonly removed: ((text: string) => readonly Span[]) | undefined;
  readonly policyTerms: ((text: string) => readonly Span[]) | undefined;
  /** Whether tags are made at all, so that text which looks like one must be told apart. */
  readonly reversible: boolean;
}

function createScope(policy: ResolvedPolicy['dlp'], remove: readonly CustomTerm[]): Scope {
  return {
    mode: policy.mode,
    removed: createTermFinder(remove),
    policyTerms: createTermFinder(policy.customTerms),
    reversible: policy.mode === 'tokenize' || remove.length > 0,
  };
}

/** A leaf, or a JSON text within one with the leaves of its own. */
interface Text {
  readonly leaf: Leaf;
  readonly inner: { readonly text: string; readonly texts: readonly Text[] } | undefined;
}

function flatten(contents: Contents): readonly Text[] {
  return contents.leaves.map((leaf) => ({
    leaf,
    inner: leaf.kind === 'json' && !leaf.signed ? readInner(leaf.text) : undefined,
  }));
}

/** How deep JSON within JSON within JSON is followed. */
const MAX_NESTING = 4;

/** A JSON text as its leaves, whatever value it is; text that is no JSON is inspected as text. */
function readInner(text: string, depth = 1): Text['inner'] {
  const root = scanJson(text);
  if (root === undefined) return undefined;
  const texts = innerLeaves(root).map((leaf) => {
    const nested = depth < MAX_NESTING && looksLikeEscapedJson(leaf.text);
    return { leaf, inner: nested ? readInner(leaf.text, depth + 1) : undefined };
  });
  return { text, texts };
}

/** Members named twice are all leaves: whichever one a reader takes, it was inspected. */
function scanJson(text: string): JsonNode | undefined {
  try {
    JSON.parse(text);
    return scan(text, { lenient: true });
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    const message = 'A text of the request holds JSON that is too deep or too large to inspect.';
    throw new GatewayError('invalid_request', message, {}, { cause: thrown });
  }
}

function innerLeaves(root: JsonNode): readonly Leaf[] {
  const found: Leaf[] = [];
  const visit = (node: JsonNode): void => {
    if (node.kind === 'string') found.push({ node, text: node.value, kind: 'text' });
    else if (node.kind === 'number') found.push({ node, text: node.source, kind: 'text' });
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

function* leafTexts(texts: readonly Text[]): Generator<string> {
  for (const text of texts) {
    if (text.inner) yield* leafTexts(text.inner.texts);
    else yield text.leaf.text;
  }
}

/** Spans of every leaf text, in order; one promise only where a worker is needed. */
async function detectAll(
  texts: readonly Text[],
  categories: ReadonlySet<string> | undefined,
  detection: Detection,
): Promise<readonly (readonly Span[])[]> {
  const all = [...leafTexts(texts)];
  const length = all.reduce((sum, text) => sum + text.length, 0);
  if (!detection.needsWorker(length)) return all.map((text) => detection.findNow(text, categories));
  try {
    return await detection.find(all, categories);
  } catch (cause) {
    throw new GatewayError(
      'inspection_unavailable',
      'The request could not be inspected; nothing was sent.',
      {},
      { cause },
    );
  }
}

/** Takes the spans of the leaf texts in their order; a text with JSON in it is rewritten from the inside. */
function writeEdits(
  texts: readonly Text[],
  spans: Iterator<readonly Span[], undefined>,
  rewrite: Rewrite,
): readonly Edit[] {
  const edits: Edit[] = [];
  for (const { leaf, inner } of texts) {
    if (leaf.signed) {
      rewrite.look(leaf.text, spans.next().value!, leaf.signed);
      continue;
    }
    const text = inner
      ? render(inner.text, writeEdits(inner.texts, spans, rewrite))
      : rewrite.text(leaf.text, spans.next().value!);
    if (text !== leaf.text) edits.push(setString(leaf.node, text));
  }
  return edits;
}

/** Rewrites leaf texts along one scope, counting what it finds. */
class Rewrite {
  readonly tags = new TagTable();
  /** Categories found that the mode refuses. */
  readonly blocked = new Set<string>();
  /** Signed blocks in which something was found: they leave as they are or not at all. // spec 4.5.4 */
  readonly flagged = new Set<JsonNode>();
  readonly #scope: Scope;
  readonly #findings: Record<string, number>;

  constructor(scope: Scope, findings: Record<string, number>) {
    this.#scope = scope;
    this.#findings = findings;
  }

  text(text: string, detected: readonly Span[]): string {
    const { mode, removed, policyTerms, reversible } = this.#scope;
    if (detected.length === 0 && !removed && !policyTerms && !(reversible && text.includes('«'))) return text;
    const actions: Action[] = [];
    const found = policyTerms ? [...detected, ...policyTerms(text)] : detected;
    for (const span of found) {
      this.#count(span.category);
      if (mode === 'block') this.blocked.add(span.category);
      else if (mode !== 'allow_log') actions.push({ ...span, act: mode === 'mask' ? 'mask' : 'tag' });
    }
    for (const span of removed?.(text) ?? []) {
      this.#count(span.category);
      actions.push({ ...span, act: 'tag' });
    }
    if (reversible) for (const span of tagLiterals(text)) actions.push({ ...span, act: 'tag' });
    return actions.length === 0 ? text : this.#apply(text, mergeActions(actions));
  }

  /** Looks at a text that must not be rewritten: what is found in it condemns the block around it. */
  look(text: string, detected: readonly Span[], block: JsonNode): void {
    const { mode, removed, policyTerms } = this.#scope;
    const found = policyTerms ? [...detected, ...policyTerms(text)] : detected;
    const toRemove = removed?.(text) ?? [];
    for (const { category } of found) this.#count(category);
    for (const { category } of toRemove) this.#count(category);
    if (toRemove.length > 0 || (found.length > 0 && mode !== 'allow_log')) this.flagged.add(block);
  }

  #apply(text: string, actions: readonly Action[]): string {
    let result = '';
    let at = 0;
    for (const { start, end, category, act } of actions) {
      const replacement = act === 'mask' ? `[${category}]` : this.tags.tagFor(text.slice(start, end), category);
      result += text.slice(at, start) + replacement;
      at = end;
    }
    return result + text.slice(at);
  }

  #count(category: string): void {
    this.#findings[category] = (this.#findings[category] ?? 0) + 1;
  }
}

function refusal(categories: string[]): GatewayError {
  const found = categories.sort().join(', ');
  return new GatewayError(
    'data_protection',
    `Refused by data protection: the request contains ${found}. Nothing was sent.`,
  );
}

/** Tags are numbered over one request: this one's would stand for other texts in the turns that the provider has kept. */
function confusion(): GatewayError {
  return new GatewayError(
    'data_protection',
    'Refused by data protection: personal data cannot be added to a conversation that the provider keeps. ' +
      'Send the whole conversation. Nothing was sent.',
  );
}

/** Content nobody can read is not waved through where policy protects content. // spec 4.3.5 */
function refuseUnreadable(kinds: readonly string[], policy: ResolvedPolicy['dlp']): void {
  const reason = unreadableReason(kinds, policy);
  if (reason === undefined) return;
  throw new GatewayError('data_protection', `Refused by data protection: ${reason}. Nothing was sent.`);
}
