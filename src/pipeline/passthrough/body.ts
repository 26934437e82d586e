import { GatewayError } from '#/errors/gateway-error.ts';
import { readExtension } from '#/inspect/extension.ts';
import { protection } from '#/inspect/refusals.ts';
import { imagesRule, unreadableReason } from '#/inspect/unreadable.ts';
import { readDocument, render, setString } from '#/wire/document/document.ts';
import type { FormPart } from '#/wire/request/multipart-form.ts';
import type { Json } from '#/wire/document/json.ts';
import { namesInText, withIds, withoutPrefix } from '#/wire/kept/names.ts';
import { claimOf, type Claim } from '#/dispatch/kept/ownership.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { member } from '#/wire/document/scan.ts';
import { isModelId, refuseLookalikes } from '#/wire/request/request-shape.ts';
import { requestFault } from '../admit.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { countsOf, DECIDING, MAX_IMAGES, MAX_VIDEO_SECONDS, outputTokensOf } from './counts.ts';
import { InspectedForm } from './form.ts';
import { inspectedPath, inspectIdsOf } from './text.ts';
import type { PassthroughInspector } from './inspector.ts';
import type { PassthroughCall, PassthroughBody } from '#/call/passthrough-call.ts';
import { permittedToolServers, permittedToolServerSteps } from '#/route/provider-side-tools.ts';
import { NO_USER_TEXT, userTextIn } from '#/inspect/user-text.ts';

/** A passthrough call's body as far as it had to be read: everything inspected, files still to come. */
export interface ReadBody {
  /** Path and query below the provider's base address, inspected too. */
  readonly path: string;
  readonly model: string | undefined;
  readonly contentType: string | undefined;
  /** The parts as they are sent, with the model as the provider knows it. */
  readonly parts: ((upstreamModel: string) => AsyncIterable<FormPart>) | undefined;
  readonly json: ((upstreamModel: string, slug: string) => AsyncIterable<Uint8Array>) | undefined;
  /** Objects that it names. */
  readonly claims: readonly Claim[];
  readonly textLength: number;
  /** Bytes of files, at most. */
  readonly fileLength: number;
  readonly images: number;
  /** Seconds of video that were asked for. */
  readonly seconds: number | undefined;
  /** The same of a form of which all was sent. */
  readonly sayingAll?: () => Pick<ReadBody, 'textLength' | 'images' | 'seconds'>;
  /** Output tokens that were asked for at most, where the body says so. */
  readonly outputTokens: number | undefined;
}

/** Files that come before the model is named are kept, up to this many bytes. */
const MAX_KEPT = 64 * 1024 * 1024;

/**
 * Reads what must be known before a passthrough call is routed, and inspects what can be. Throws `data_protection` where content
 * that cannot be read may not leave, `invalid_request`, or `request_too_large`.
 */
export async function readPassthroughBody(inspector: PassthroughInspector): Promise<ReadBody> {
  const { body, method } = inspector.call;
  try {
    const path = await inspectedPath(inspector);
    if (body.kind === 'json') return { path, ...(await readJson(body.text, inspector)) };
    if (body.kind === 'bytes') return { path, ...(await readBytes(body, inspector)) };
    if (body.kind === 'form') return { path, ...(await readForm(body, inspector)) };
    // Listing and deleting use no model, so they cannot be outside the purpose.
    if (method !== 'GET' && method !== 'DELETE') await inspector.guard(NO_USER_TEXT);
    return { path, ...NO_BODY };
  } catch (thrown) {
    throw requestFault(thrown);
  }
}

type BodyOnly = Omit<ReadBody, 'path'>;

const NO_BODY: BodyOnly = {
  model: undefined,
  contentType: undefined,
  parts: undefined,
  json: undefined,
  claims: [],
  textLength: 0,
  fileLength: 0,
  images: 1,
  seconds: undefined,
  outputTokens: undefined,
};

async function readJson(text: string, inspector: PassthroughInspector): Promise<BodyOnly> {
  const { call } = inspector;
  const slices = slicesFor(text, call);
  const document = slices ? await slices.run(readLarge('passthrough', text)) : readDocument('passthrough', text);
  if (slices) await slices.run(permittedToolServerSteps(document, call.key));
  else permittedToolServers(document, call.key);
  const { remove, edits } = readExtension(document);
  inspector.removes(remove);
  refuseLookalikes(document, DECIDING);
  await inspector.guard(userTextIn(document));
  const { model } = document.body;
  await inspectIdsOf('model', typeof model === 'string' ? [model] : [], inspector);
  const inspected = await inspector.edits(document, remove);
  const node = member(document.root, 'model');
  const names = namesInText('passthrough', render(text, [...edits, ...inspected]));
  const send = async function* (upstreamModel: string, slug: string): AsyncGenerator<Uint8Array> {
    const rename = node ? [setString(node, upstreamModel)] : [];
    const sent = render(text, [...edits, ...inspected, ...rename]);
    yield Buffer.from(withIds('passthrough', sent, names, ({ id }) => withoutPrefix(id, slug)));
  };
  return {
    ...NO_BODY,
    ...countsOf(call, document.body),
    outputTokens: outputTokensOf(document.body),
    model: modelOf(document.body['model'], call),
    contentType: 'application/json',
    json: send,
    claims: names.map(claimOf),
    textLength: Buffer.byteLength(text),
  };
}

async function readForm(
  { parts, length, keep }: Extract<PassthroughBody, { kind: 'form' }>,
  inspector: PassthroughInspector,
): Promise<BodyOnly> {
  const { call } = inspector;
  const isAny = call.surface === 'passthrough';
  // A form of unknown kind may be fields alone.
  if (!isAny) refuseFiles(call);
  // An upload has no user text, so it is refused before its file is read.
  if (call.surface === 'files') await inspector.guard(NO_USER_TEXT);
  const inspected = new InspectedForm(parts, inspector);
  // If matches or user text can refuse the call, everything is read before anything is sent.
  const { dlp, scopeGuard } = call.key.workload.policy;
  const refusesFiles = isAny && unreadableReason('file', dlp, 'passed') !== undefined;
  const wantsAll = dlp.mode === 'block' || scopeGuard.mode === 'block' || imagesRule(dlp) !== 'pass' || refusesFiles;
  const wantsModel = call.provider === undefined || call.gate?.isKnown === false;
  let kept = 0;
  let all = false;
  while (!all && (wantsAll || (wantsModel && !inspected.fields.has('model')))) {
    const part = await inspected.next();
    if (part === undefined) all = true;
    else if (part.kind === 'file') kept += await inspected.keep(part, MAX_KEPT - kept, keep);
    else inspected.held.push(part);
  }
  const { fields } = inspected;
  const sayingAll = (): Pick<ReadBody, 'textLength' | 'images' | 'seconds'> => ({
    ...countsOf(call, Object.fromEntries(fields)),
    textLength: [...fields.values()].reduce((sum, value) => sum + Buffer.byteLength(value), 0),
  });
  const counts = sayingAll();
  return {
    ...NO_BODY,
    // How many pictures are wanted may still come, or how many seconds.
    images: all || fields.has('n') || call.surface !== 'images' ? counts.images : MAX_IMAGES,
    seconds: all || fields.has('seconds') || call.surface !== 'videos' ? counts.seconds : MAX_VIDEO_SECONDS,
    model: modelOf(inspected.fields.get('model'), call),
    parts: (upstreamModel) => inspected.send(upstreamModel),
    textLength: counts.textLength,
    sayingAll,
    fileLength: length ?? MAX_KEPT,
  };
}

/** What the files of a form are where they are no pictures. */
const FILES: Readonly<Record<string, string>> = { files: 'file', passthrough: 'file', audio: 'audio' };

/** Unreadable content is refused if policy protects content; images are checked as they come. // spec 4.3.5 */
function refuseFiles({ surface, key }: PassthroughCall): void {
  const reason = unreadableReason(FILES[surface] ?? 'image', { ...key.workload.policy.dlp, images: 'pass' }, 'passed');
  if (reason === undefined) return;
  throw protection(reason);
}

/** A body that the gateway cannot read: it is sent unchanged, or refused. // spec 4.3.5 */
async function readBytes(
  { bytes, contentType, length }: Extract<PassthroughBody, { kind: 'bytes' }>,
  inspector: PassthroughInspector,
): Promise<BodyOnly> {
  refuseFiles(inspector.call);
  await inspector.guard(NO_USER_TEXT);
  inspector.misses('file');
  return { ...NO_BODY, contentType, json: () => bytes, fileLength: length ?? MAX_KEPT };
}

/** With the provider in the header, a model has the provider's own name. */
function modelOf(value: Json | undefined, { gate, provider }: PassthroughCall): string | undefined {
  if (value === undefined) return undefined;
  if (gate && provider !== undefined && typeof value === 'string' && isModelId(`${provider}/${value}`)) return value;
  if (isModelId(value)) return value;
  throw new GatewayError('invalid_request', 'model must be a model id: <provider>/<model>.', { param: 'model' });
}
