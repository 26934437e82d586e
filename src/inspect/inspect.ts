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
import { flatten, lowest, writeEdits, writeInOrder, type Text } from './leaf-texts.ts';
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
  const walked = contentsOf(document, codec);
  const read = walked.tokens ? await readTokens(walked, models, policy, remove.length > 0) : undefined;
  const contents = read?.contents ?? walked;
  const { media, keptBefore = false } = contents;
  const findings: Record<string, number> = {};
  const hasFiles = reader !== undefined && media.length > 0;
  const attaches = hasFiles && (policy.documents === 'anonymize' || imagesRule(policy) === 'inspect');
  const rewrite = new Rewrite(createScope(policy, remove, attaches), findings);
  const where = (at: number): string | undefined => pathTo(document.root, at);
  // A function written where a property is assigned is allocated as old by V8, and would keep the document until all of
  // the heap is collected.
  rewrite.where = where;
  const { texts, leaves } = slices ? await slices.run(flatten(contents)) : finish(flatten(contents));
  if (slices) await slices.next();
  const detected = detectInLeaves(leaves, document.text, policy, detection, slices);
  const { matches, missed: unsearched } = detected instanceof Promise ? await detected : detected;
  const missed = read ? [...unsearched, ...read.missed] : unsearched;
  if (rewrite.hasTerms) await lookForTerms(rewrite, leaves, document.text, detection, slices);
  const attached = hasFiles ? attach(media, { policy, remove, rewrite, detection, reader, keepsTags: keptBefore }) : [];
  if (attached.length > 0) {
    try {
      await readFiles(attached, termsBefore(texts, matches, attached), where);
    } catch (thrown) {
      throw new Stopped(thrown, { findings, unscanned: [...missed, ...kindsOf(media)] });
    }
  }
  const writing =
    attached.length === 0
      ? writeEdits(texts, matches.values(), rewrite)
      : writeInOrder(texts, matches.values(), rewrite, attached, policy);
  const rewritten = slices ? await slices.run(writing) : finish(writing);
  if (slices) await slices.next();
  if (rewrite.looked.length > 0) rewrite.judge(contents.leaves, rewritten);
  const written = read ? [...rewritten, ...asTexts(read.texts, rewritten)] : rewritten;
  const ids = contents.ids
    ? inspectIds(contents.ids, rewrite.idSearch(detection, policy), policy, remove.length > 0, rewrite)
    : undefined;
  const renamed = ids ? (slices ? await slices.run(ids) : finish(ids)) : [];
  const hasEngine = reader?.engine !== undefined;
  const beside = { media, attached, missed, hasEngine, keptBefore, findings };
  return concluded(document, codec, policy, rewrite, ids ? [...written, ...renamed] : written, beside);
}

/** Terms that detectors know nothing of: in texts that are large together, and over the ends of texts. */
async function lookForTerms(
  rewrite: Rewrite,
  leaves: readonly Leaf[],
  source: string,
  detection: Detection,
  slices: Slices | undefined,
): Promise<void> {
  await rewrite.lookAhead(leaves, detection);
  const overJoints = rewrite.overJoints(leaves, source);
  if (slices) await slices.run(overJoints);
  else finish(overJoints);
}

/** Content of a request besides its texts, and the kinds that could not be looked through. */
interface Beside {
  readonly media: Contents['media'];
  readonly attached: readonly AttachedFile[];
  readonly missed: readonly string[];
  readonly hasEngine: boolean;
  readonly keptBefore: boolean;
  readonly findings: Readonly<Record<string, number>>;
}

/** Decides on a request that was looked through: refuses it, with the matches, or lets it leave with these edits. */
function concluded(
  document: WireDocument,
  { dropSigned, tellApart }: Pick<Codec, 'dropSigned' | 'tellApart'>,
  policy: ResolvedPolicy['dlp'],
  rewrite: Rewrite,
  written: readonly Edit[],
  { media, attached, missed, hasEngine, keptBefore, findings }: Beside,
): Inspection {
  const dropped = dropSigned?.(document, rewrite.flagged) ?? [];
  const kinds = media.length === 0 ? NOTHING : kindsOf(media);
  const facts = { findings, unscanned: [...missed, ...kinds] };
  const unlookedAt = attached.length === 0 ? media : unlooked(media, attached);
  let edits = dropped.length === 0 ? written : [...written, ...dropped];
  try {
    if (policy.mode === 'block' && rewrite.blocked.size > 0) throw refusal(rewrite);
    if (unlookedAt.length > 0) refuseUnreadable(unlookedAt, policy, hasEngine, rewrite.where);
    if (keptBefore && rewrite.tags.size > 0) throw confusion();
    if (tellApart && edits.length > 0) edits = toldApart(document, tellApart, edits);
  } catch (thrown) {
    throw new Stopped(thrown, facts);
  }
  const unread = attached.length === 0 ? kinds : kindsOf(unlookedAt);
  const unsaid = attached.length === 0 ? missed : [...missed, ...attached.flatMap((file) => file.missed)];
  const unscanned = unsaid.length === 0 ? unread : [...new Set(unsaid), ...unread];
  const losses = dropped.length > 0 ? ['thinking'] : NOTHING;
  return { edits, losses, facts, unscanned, media, tags: rewrite.tags, keptBefore, attached };
}

const NOTHING: readonly string[] = [];

function toldApart(
  document: WireDocument,
  tellApart: NonNullable<Codec['tellApart']>,
  edits: readonly Edit[],
): readonly Edit[] {
  try {
    return tellApart(document, edits);
  } catch (thrown) {
    throw thrown instanceof BadRequestShape ? shapeError(thrown) : thrown;
  }
}

function unlooked(media: Contents['media'], attached: readonly AttachedFile[]): Contents['media'] {
  const looked = new Set(attached.map((file) => file.media));
  return media.filter((item) => !looked.has(item));
}

function kindsOf(media: Contents['media']): readonly string[] {
  return media.length === 0 ? [] : [...new Set(media.map((item) => item.kind))];
}

/** What a request says. Throws the family's errors of shape as errors for its client. */
function contentsOf(document: WireDocument, codec: Pick<Codec, 'contents'>): Contents {
  try {
    return codec.contents(document);
  } catch (thrown) {
    throw thrown instanceof BadRequestShape ? shapeError(thrown) : thrown;
  }
}

/** A request that stays in the gateway is not looked through: nothing of it leaves. */
export function uninspected(document: WireDocument, codec: Pick<Codec, 'contents'>): Inspection {
  const { media } = contentsOf(document, codec);
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

/** Matches of the texts before each file, so that they are found in the file too. */
function termsBefore(
  texts: readonly Text[],
  matches: readonly (readonly Match[])[],
  attached: readonly AttachedFile[],
): readonly (readonly CustomTerm[])[] {
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

/** Reads the files, and says of a failure where its file stands. */
async function readFiles(
  files: readonly AttachedFile[],
  before: readonly (readonly CustomTerm[])[],
  where: Rewrite['where'],
): Promise<void> {
  for (const [index, file] of files.entries()) {
    try {
      await file.read(before[index] ?? []);
    } catch (thrown) {
      throw placed(thrown, where(file.place.part.start));
    }
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
