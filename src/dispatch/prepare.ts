import { hash } from 'node:crypto';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { shapeError } from '#/errors/shape-error.ts';
import type { AttachedFile } from '#/inspect/attachments/attached-file.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { outputCeiling } from '#/meter/usage-bounds.ts';
import type { Call } from '#/call/call.ts';
import { DocumentFault } from '#/ports/documents.ts';
import type { MediaFetcher } from '#/ports/media.ts';
import type { FitContext } from '#/ports/provider.ts';
import type { ModelRequest } from '#/wire/hub/canonical.ts';
import { customNames } from '#/wire/chat/custom-tools.ts';
import { BadRequestShape, type ClientCodec } from '#/wire/hub/codec.ts';
import { render, setString, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import { writeJson } from '#/wire/document/write-json.ts';
import { settingsOf } from './relay/answer-context.ts';
import { readAnew } from './relay/read-anew.ts';
import { renameTools, restoringNames } from '#/wire/hub/tool-names.ts';
import type { Traits } from '#/wire/hub/traits.ts';
import { isHubFamily, UPSTREAM_CODECS } from '#/route/plan.ts';
import { inlineRemoteMedia } from './inline-media.ts';
import type { Target, Candidate, Candidates } from '#/call/target.ts';
import { travellingFiles } from './travelling-files.ts';

/**
 * Writes the request for every target. In the surface's own family that is the original text with the declared edits;
 * in another one it goes through the hub. Targets that cannot serve the request are left out and reported to
 * `onLeftOut`; throws `invalid_request` with the reason when none is left.
 */
export async function prepare(
  call: Call,
  inspection: Inspection,
  targets: readonly Target[],
  media: MediaFetcher,
  onLeftOut: (target: Target, why: string) => void,
): Promise<Candidates> {
  const candidates: Candidate[] = [];
  let refusal: GatewayError | undefined;
  for (const target of targets) {
    if (call.slices) await call.slices.next();
    try {
      const hasFiles = inspection.attached.length > 0;
      const { inspected, unscanned, instead } = hasFiles
        ? await withFiles(call, inspection, target)
        : { inspected: inspection, unscanned: inspection.unscanned, instead: [] };
      const writing = mustTranslate(call, inspection, target)
        ? translated(call, inspected, target, media)
        : verbatim(call, inspected, target);
      const written = writing instanceof Promise ? await writing : writing;
      candidates.push({ ...written, unscanned, instead });
    } catch (thrown) {
      refusal ??= refusalOf(thrown, candidates.length > 0);
      onLeftOut(target, (thrown as Error).message);
    }
  }
  const [first, ...rest] = candidates;
  if (!first) throw refusal!;
  return [first, ...rest];
}

/**
 * Why a target is left out. A fault of a document cannot be avoided by reading it another way: it refuses the
 * call, unless another target is ready. // spec 7.1
 */
function refusalOf(thrown: unknown, isFallback: boolean): GatewayError {
  if (thrown instanceof BadRequestShape) return shapeError(thrown);
  if (!(thrown instanceof GatewayError)) throw thrown;
  const isOfDocument = thrown.cause instanceof DocumentFault;
  if (thrown.code === 'data_protection' || (isOfDocument && isFallback)) return thrown;
  throw thrown;
}

/** What inspection has left of a request, with its files as they travel to this target. */
async function withFiles(
  { document, edits }: Call,
  inspection: Inspection,
  target: Target,
): Promise<Pick<Candidate, 'unscanned' | 'instead'> & { readonly inspected: Inspection }> {
  const { attached } = inspection;
  const nameOf = (file: AttachedFile): string | undefined => nameAsInspected(file, inspection.edits);
  const files = await travellingFiles(document, attached, target, nameOf);
  const gone = files.edits.flatMap((edit) => attached.filter(({ place }) => isWithin(place.part, edit)));
  const outside = inspection.edits.filter((edit) => !gone.some(({ place }) => isWithin(edit, place.part)));
  const replaced = files.edits.filter((edit) => !edits.some((other) => isWithin(edit, other)));
  const inspected = {
    ...inspection,
    edits: [...outside, ...replaced],
    losses: [...inspection.losses, ...files.losses],
  };
  const unscanned = [...new Set([...inspection.unscanned, ...files.unscanned])];
  return { inspected, unscanned, instead: files.instead };
}

function nameAsInspected({ nameNode: node }: AttachedFile, edits: readonly Edit[]): string | undefined {
  const edit = node && edits.find(({ start }) => start === node.start);
  return edit ? (JSON.parse(edit.text) as string) : node?.value;
}

function isWithin(inner: Pick<Edit, 'start' | 'end'>, outer: Pick<Edit, 'start' | 'end'>): boolean {
  return inner.start >= outer.start && inner.end <= outer.end;
}

/**
 * Between families; and within one if a provider does not fetch addresses, so that their content is inlined, or has no
 * text tools, since their calls come back as function calls.
 */
function mustTranslate(call: Call, { media }: Inspection, { family, provider, model }: Target): boolean {
  if (family !== call.codec.family) return true;
  const hasText = family === 'chat' && call.document.body['tools'] !== undefined && customNames(call.document).size > 0;
  if (hasText && provider.traits(model).customTools !== true) return true;
  return media.some(({ source }) => source === 'remote') && isHubFamily(family) && !provider.traits(model).remoteMedia;
}

type Written = Omit<Candidate, 'unscanned' | 'instead'>;

/** The original bytes with the declared edits. */
function verbatim(call: Call, inspection: Inspection, target: Target): Written | Promise<Written> {
  const edits = [...call.edits, ...inspection.edits];
  const losses = [...inspection.losses];
  const { document } = call;
  const fitted = fit(document, call, target, losses);
  // Fitting may move content, or depend on removed fields: it must read the edited text.
  if ((fitted.length > 0 || inspection.losses.length > 0) && inspection.edits.length > 0)
    return fittedAnew(call, inspection, target, edits);
  const { modelNode } = call.ask;
  const named = setString(modelNode, target.provider.upstreamModel(target.model));
  const body = render(document.text, [...edits, named, ...fitted]);
  return { ...target, body, losses, translation: undefined };
}

async function fittedAnew(
  call: Call,
  inspection: Inspection,
  target: Target,
  edits: readonly Edit[],
): Promise<Written> {
  const { family, text } = call.document;
  const document = await readAnew(family, render(text, edits), call.slices);
  const losses = [...inspection.losses];
  const fitted = fit(document, call, target, losses);
  const body = render(document.text, [...rename(document, target), ...fitted]);
  return { ...target, body, losses, translation: undefined };
}

/** What inspection has left of a request, as every provider gets it. */
export async function inspectedDocument(call: Call, inspection: Pick<Inspection, 'edits'>): Promise<WireDocument> {
  const edits = [...call.edits, ...inspection.edits];
  if (edits.length === 0) return call.document;
  return readAnew(call.codec.family, render(call.document.text, edits), call.slices);
}

/** Through the hub: the inspected request is read, and written in the provider's family. */
async function translated(call: Call, inspection: Inspection, target: Target, media: MediaFetcher): Promise<Written> {
  const { family, provider, model } = target;
  if (!isHubFamily(family)) throw new TypeError(`nothing translates to ${family}`);
  const client = call.codec as ClientCodec;
  const upstream = UPSTREAM_CODECS[family];
  const losses = new Set<string>(inspection.losses);
  const lose = (what: string): void => void losses.add(what);
  const inspected = await inspectedDocument(call, inspection);
  const known = provider.traits(model);
  // Markers are an opt-in of the organization's: without it no model has use for them, save on a server
  // of one's own. // spec 4.3.2, 4.3.3
  const marked = call.key.workload.policy.promptCache || known.cacheMarks === 'as-written';
  const traits = marked ? known : { ...known, cacheMarks: 'none' as const };
  let request = withCeiling(client.decodeRequest(inspected, lose), target, traits);
  if (!traits.remoteMedia) request = await inlineRemoteMedia(request, media, call.signal);
  if (call.slices) await call.slices.next();
  const { request: named, originals } = renameTools(request, family);
  const encoded = upstream.encodeRequest(named, traits, lose);
  const text = call.slices ? await call.slices.run(writeJson(encoded)) : JSON.stringify(encoded);
  const written = await readAnew(family, text, call.slices);
  const dropped: string[] = [];
  const fitted = fit(written, call, target, dropped);
  for (const what of dropped) lose(what);
  const body = render(written.text, [...rename(written, target), ...fitted]);
  return {
    ...target,
    body,
    losses: [...losses],
    translation: { client, upstream: restoringNames(upstream, originals), settings: await settingsOf(call) },
  };
}

/** This family requires a ceiling: without one of the caller, the held one. */
function withCeiling(request: ModelRequest, target: Target, { maxOutputTokens = Infinity }: Traits): ModelRequest {
  if (target.family !== 'messages' || request.maxOutputTokens !== undefined) return request;
  return { ...request, maxOutputTokens: Math.min(outputCeiling(target), maxOutputTokens) };
}

function fit(document: WireDocument, call: Call, { provider, model }: Target, losses: string[]): readonly Edit[] {
  const { policy, organization } = call.key.workload;
  const { dialect } = call.ask;
  const context: FitContext = {
    model,
    ...(dialect && { dialect }),
    stream: call.ask.stream,
    includeUsage: call.ask.includeUsage,
    promptCache: policy.promptCache,
    organizationCacheKey: cacheKeys.get(organization) ?? newCacheKey(organization),
  };
  return provider.fit(document, context, (what) => void losses.push(what));
}

/** The model as the provider knows it, where the family names it in the body. */
function rename(document: WireDocument, { provider, model }: Target): readonly Edit[] {
  const node = member(document.root, 'model');
  return node ? [setString(node, provider.upstreamModel(model))] : [];
}

const cacheKeys = new WeakMap<OrganizationConfig, string>();

/** Tells organizations apart towards a provider without naming them. // spec 4.3.3 */
function newCacheKey(organization: OrganizationConfig): string {
  const key = hash('sha256', `gatewarden prompt cache ${organization.id}`, 'hex').slice(0, 32);
  cacheKeys.set(organization, key);
  return key;
}
