import type { CustomTerm, ResolvedPolicy } from '#/config/snapshot.ts';
import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { GatewayError } from '#/errors/gateway-error.ts';
import { shapeError } from '#/errors/shape-error.ts';
import type { Slices } from '#/runtime/loop-slices.ts';
import { BadRequestShape, type Codec, type Contents, type Leaf } from '#/wire/hub/codec.ts';
import type { Edit, WireDocument } from '#/wire/document/document.ts';
import { pathTo } from '#/wire/document/json-path.ts';
import { finish } from '#/wire/document/steps.ts';
import type { Detection } from './detection.ts';
import type { Match } from './match.ts';
import type { AttachedFile, AttachmentReader } from './attachments/attached-file.ts';
import { inspectIds } from './ids.ts';
import { attach } from './attachments/attach.ts';
import { detectInLeaves } from './detect-leaves.ts';
import { flatten, lowest, writeInOrder, type Text } from './leaf-texts.ts';
import { placed, protection } from './refusals.ts';
import { confusion, createScope, Rewrite } from './rewrite.ts';
import { TagTable } from './tags.ts';
import { asTexts, readTokens } from './token-lists.ts';
import { imagesRule, unreadableReason, unreadBecause } from './unreadable.ts';

/** What inspection found, and the edits that keep it in. */
export interface Inspection extends Omit<Contents, 'leaves'> {
  readonly edits: readonly Edit[];
  /** Parts that were removed entirely, by name: thinking that must not be rewritten, or that has no signature. */
  readonly losses: readonly string[];
  /** Matches, and content that cannot be inspected before files are read. */
  readonly facts: Pick<CallFacts, 'findings' | 'unscanned'>;
  /** Kinds of content that could not be read; those of attached files depend on how they travel. */
  readonly unscanned: readonly string[];
  readonly tags: TagTable;
  /** Files that are looked into before they travel. */
  readonly attached: readonly AttachedFile[];
}

/**
 * Inspects a request: every string of it, whatever its place. Mode `block` throws `data_protection`, in a
 * `Stopped` with the matches; `tokenize` and `mask` return edits; `allow_log` only counts. Terms to remove become
 * reversible tags in every mode.
 * `models`: those that may be asked, in whose tokens a prompt may be written. `slices`: those that a large one takes.
 * // spec 1.7, 1.8
 */
export async function inspect(
  document: WireDocument,
  codec: Pick<Codec, 'contents' | 'dropSigned' | 'tellApart'>,
  policy: ResolvedPolicy['dlp'],
  remove: readonly CustomTerm[],
  detection: Detection,
  reader?: AttachmentReader,
  models: readonly string[] = [],
  slices?: Slices,
): Promise<Inspection> {
  if (slices) await slices.next();
  const walked = inShape(() => codec.contents(document));
  const read = walked.tokens ? await readTokens(walked, models, policy, remove.length > 0) : undefined;
  const contents = read?.contents ?? walked;
  const findings: Record<string, number> = {};
  const hasFiles = reader !== undefined && contents.media.length > 0;
  const attaches = hasFiles && (policy.documents === 'anonymize' || imagesRule(policy) === 'inspect');
  const rewrite = new Rewrite(createScope(policy, remove, attaches), findings);
  const where = (at: number): string | undefined => pathTo(document.root, at);
  // A function written where a property is assigned is allocated as old by V8, and would keep the document until all of
  // the heap is collected.
  rewrite.where = where;
  const texts = slices ? await slices.run(flatten(contents)) : finish(flatten(contents));
  const leaves = lowest(texts);
  if (slices) await slices.next();
  const isOfSource = outsideOf(texts);
  const detected = detectInLeaves(leaves, isOfSource, document.text, policy, detection, slices);
  const { matches, missed: unsearched } = detected instanceof Promise ? await detected : detected;
  const missed = read ? [...unsearched, ...read.missed] : unsearched;
  const ahead = rewrite.lookAhead(leaves, detection);
  if (ahead) await ahead;
  const overJoints = rewrite.overJoints(leaves, isOfSource, document.text);
  if (slices) await slices.run(overJoints);
  else finish(overJoints);
  const kinds = kindsOf(contents.media);
  const keepsTags = contents.keptBefore === true;
  const attached = hasFiles ? attach(contents.media, { policy, remove, rewrite, detection, reader, keepsTags }) : [];
  const before = termsBefore(texts, matches, attached);
  try {
    for (const [index, file] of attached.entries()) await readAt(file, before[index] ?? [], where);
  } catch (thrown) {
    throw new Stopped(thrown, { findings, unscanned: [...missed, ...kinds] });
  }
  const writing = writeInOrder(texts, matches.values(), rewrite, attached, policy);
  const rewritten = slices ? await slices.run(writing) : finish(writing);
  if (slices) await slices.next();
  rewrite.judge(contents.leaves, rewritten);
  const written = read ? [...rewritten, ...asTexts(read.texts, rewritten)] : rewritten;
  const ids = contents.ids
    ? inspectIds(contents.ids, rewrite.idSearch(detection, policy), policy, remove.length > 0, rewrite)
    : undefined;
  const renamed = ids ? (slices ? await slices.run(ids) : finish(ids)) : [];
  const dropped = codec.dropSigned?.(document, rewrite.flagged) ?? [];
  const facts = { findings, unscanned: [...missed, ...kinds] };
  const unlookedAt = attached.length === 0 ? contents.media : unlooked(contents.media, attached);
  const unread = attached.length === 0 ? kinds : kindsOf(unlookedAt);
  const losses = dropped.length > 0 ? ['thinking'] : [];
  const { media, keptBefore = false } = contents;
  let edits: readonly Edit[];
  try {
    if (policy.mode === 'block' && rewrite.blocked.size > 0) throw refusal(rewrite);
    refuseUnreadable(unlookedAt, policy, reader?.engine !== undefined, where);
    if (keptBefore && rewrite.tags.size > 0) throw confusion();
    edits = toldApart(document, codec, [...written, ...renamed, ...dropped]);
  } catch (thrown) {
    throw new Stopped(thrown, facts);
  }
  const unsaid = attached.length === 0 ? missed : [...missed, ...attached.flatMap((file) => file.missed)];
  const unscanned = unsaid.length === 0 ? unread : [...new Set(unsaid), ...unread];
  return { edits, losses, facts, unscanned, media, tags: rewrite.tags, keptBefore, attached };
}

function toldApart(
  document: WireDocument,
  { tellApart }: Pick<Codec, 'tellApart'>,
  edits: readonly Edit[],
): readonly Edit[] {
  return tellApart && edits.length > 0 ? inShape(() => tellApart(document, edits)) : edits;
}

function unlooked(media: Contents['media'], attached: readonly AttachedFile[]): Contents['media'] {
  const looked = new Set(attached.map((file) => file.media));
  return media.filter((item) => !looked.has(item));
}

function kindsOf(media: Contents['media']): readonly string[] {
  return media.length === 0 ? [] : [...new Set(media.map((item) => item.kind))];
}

/** Turns the family's shape errors into errors for its client. */
function inShape<T>(work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof BadRequestShape ? shapeError(thrown) : thrown;
  }
}

/** A request that stays in the gateway is not looked through: nothing of it leaves. */
export function uninspected(document: WireDocument, codec: Pick<Codec, 'contents'>): Inspection {
  const { media } = inShape(() => codec.contents(document));
  return {
    edits: [],
    losses: [],
    facts: {},
    unscanned: [],
    media,
    keptBefore: false,
    tags: new TagTable(),
    attached: [],
  };
}

/** Tells the leaves of a document from those of JSON within one of its texts. */
function outsideOf(texts: readonly Text[]): (leaf: Leaf) => boolean {
  const inner = new Set<Leaf>();
  for (const text of texts) if (text.inner) for (const leaf of lowest([text])) inner.add(leaf);
  return (leaf) => !inner.has(leaf);
}

/** Matches of the texts before each file, so that they are found in the file too. */
function termsBefore(
  texts: readonly Text[],
  matches: readonly (readonly Match[])[],
  attached: readonly AttachedFile[],
): readonly (readonly CustomTerm[])[] {
  if (attached.length === 0) return [];
  const terms: CustomTerm[] = [];
  const counts: number[] = [];
  let at = 0;
  for (const text of texts) {
    counts.push(terms.length);
    for (const leaf of lowest([text])) {
      const found = matches[at++] ?? [];
      for (const { start, end, category } of found) terms.push({ term: leaf.text.slice(start, end), label: category });
    }
  }
  return attached.map(({ leaves }) => terms.slice(0, counts[leaves] ?? terms.length));
}

/** Reads a file, and says of a failure where it stands. */
async function readAt(file: AttachedFile, before: readonly CustomTerm[], where: Rewrite['where']): Promise<void> {
  try {
    await file.read(before);
  } catch (thrown) {
    throw placed(thrown, where(file.place.part.start));
  }
}

function refusal({ blocked, blockedAt, where }: Rewrite): GatewayError {
  const places = new Set(blockedAt.map((at) => where(at)).filter((path) => path !== undefined));
  return protection(`the request contains ${[...blocked].sort().join(', ')}`, [...places]);
}

/** Unreadable content is refused if policy protects content. // spec 4.3.5 */
function refuseUnreadable(
  media: Contents['media'],
  policy: ResolvedPolicy['dlp'],
  hasEngine: boolean,
  where: Rewrite['where'],
): void {
  for (const item of media) {
    const reason = unreadableReason(item.kind, policy, unreadBecause(item, hasEngine));
    if (reason === undefined) continue;
    const path = item.place && where(item.place.part.start);
    throw protection(reason, path === undefined ? [] : [path]);
  }
}
