import { GatewayError } from '#errors/gateway-error.ts';
import { readExtension } from '#inspect/extension.ts';
import type { Inspection } from '#inspect/inspect.ts';
import type { Entry } from '#seal/entry.ts';
import type { Codec } from '#wire/codec.ts';
import { readDocument, render, setString } from '#wire/document.ts';
import type { FormField, FormFile, FormPart } from '#wire/form.ts';
import { isObject, type JsonObject } from '#wire/json.ts';
import { member } from '#wire/scan.ts';
import { walk } from '#wire/walk.ts';
import { requestFault } from './admit.ts';
import type { Passage, PassageStages } from './passage.ts';

/** A passage's body as far as it had to be read: everything inspected, files still to come. */
export interface ReadBody {
  readonly model: string | undefined;
  readonly contentType: string | undefined;
  /** The parts as they are sent, with the model as the provider knows it. */
  readonly parts: ((upstreamModel: string) => AsyncIterable<FormPart>) | undefined;
  readonly json: ((upstreamModel: string) => AsyncIterable<Uint8Array>) | undefined;
  readonly textLength: number;
  /** Bytes of files, at most. */
  readonly fileLength: number;
  readonly images: number;
  /** Seconds of video that were asked for. */
  readonly seconds: number | undefined;
}

/** Files that come before the model is named are kept, up to this many bytes. */
const MAX_KEPT = 64 * 1024 * 1024;
const MAX_IMAGES = 10;
const MODEL_ID = /^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,255}$/;

/** No place of these bodies is structural: every string that is not a file's bytes is read. */
const PLAIN: Pick<Codec, 'contents'> = {
  contents: (document) =>
    walk(document, {
      promptOrder: ['instructions', 'prompt', 'input'],
      isStructural: () => false,
      isJson: () => false,
      mediaOf: () => undefined,
      isBareMedia: () => false,
    }),
};

/**
 * Reads what must be known before a passage is routed, and inspects what can be. Throws `data_protection` where content
 * that cannot be read may not leave, `invalid_request`, or `request_too_large`.
 */
export async function readPassageBody(passage: Passage, stages: PassageStages, entry: Entry): Promise<ReadBody> {
  const { body } = passage;
  try {
    if (body.kind === 'json') return await readJson(passage, body.text, stages, entry);
    if (body.kind === 'form') return await readForm(passage, body.parts, body.length, stages, entry);
    return NO_BODY;
  } catch (thrown) {
    throw requestFault(thrown);
  }
}

const NO_BODY: ReadBody = {
  model: undefined,
  contentType: undefined,
  parts: undefined,
  json: undefined,
  textLength: 0,
  fileLength: 0,
  images: 1,
  seconds: undefined,
};

async function readJson(passage: Passage, text: string, stages: PassageStages, entry: Entry): Promise<ReadBody> {
  const document = readDocument('passthrough', text);
  const { remove, edits } = readExtension(document);
  entry.removed = remove.map(({ label }) => label);
  const { policy } = passage.key.workload;
  const inspection = await stages.inspect(document, PLAIN, policy, remove, noting(entry));
  const node = member(document.root, 'model');
  const send = async function* (upstreamModel: string): AsyncGenerator<Uint8Array> {
    const rename = node ? [setString(node, upstreamModel)] : [];
    yield Buffer.from(render(text, [...edits, ...inspection.edits, ...rename]));
  };
  return {
    ...NO_BODY,
    ...countsOf(document.body),
    model: modelOf(document.body['model']),
    contentType: 'application/json',
    json: send,
    textLength: Buffer.byteLength(text),
  };
}

async function readForm(
  passage: Passage,
  parts: AsyncIterator<FormPart>,
  length: number | undefined,
  stages: PassageStages,
  entry: Entry,
): Promise<ReadBody> {
  refuseFiles(passage);
  const inspected = new InspectedForm(passage, parts, stages, entry);
  // Where a finding refuses the call, all is read before anything is sent.
  const wantsAll = passage.key.workload.policy.dlp.mode === 'block';
  const wantsModel = passage.provider === undefined;
  let kept = 0;
  let all = false;
  while (!all && (wantsAll || (wantsModel && !inspected.fields.has('model')))) {
    const part = await inspected.next();
    if (part === undefined) all = true;
    else if (part.kind === 'file') kept += await inspected.keep(part, MAX_KEPT - kept);
    else inspected.held.push(part);
  }
  const counts = countsOf(Object.fromEntries(inspected.fields));
  return {
    ...NO_BODY,
    ...counts,
    // How many pictures are wanted may still come.
    images: all || inspected.fields.has('n') ? counts.images : MAX_IMAGES,
    model: modelOf(inspected.fields.get('model')),
    parts: (upstreamModel) => inspected.send(upstreamModel),
    textLength: [...inspected.fields.values()].reduce((sum, value) => sum + Buffer.byteLength(value), 0),
    fileLength: length ?? MAX_KEPT,
  };
}

/** Content that nobody can read is not let through where policy protects content. // spec 4.3.5 */
function refuseFiles({ surface, key }: Passage): void {
  const { mode } = key.workload.policy.dlp;
  const refused = surface === 'files' ? mode !== 'allow_log' : surface === 'audio' && mode === 'block';
  if (!refused) return;
  const what = surface === 'files' ? 'a file' : 'audio';
  throw new GatewayError('data_protection', `Refused by data protection: ${what} cannot be scanned. Nothing was sent.`);
}

/** The parts of a form, each inspected as it comes: fields as text, files as what nobody can read. */
class InspectedForm {
  readonly fields = new Map<string, string>();
  /** Parts that were read already, in their order. */
  readonly held: FormPart[] = [];
  readonly #passage: Passage;
  readonly #parts: AsyncIterator<FormPart>;
  readonly #stages: PassageStages;
  readonly #entry: Entry;

  constructor(passage: Passage, parts: AsyncIterator<FormPart>, stages: PassageStages, entry: Entry) {
    this.#passage = passage;
    this.#parts = parts;
    this.#stages = stages;
    this.#entry = entry;
  }

  async next(): Promise<FormPart | undefined> {
    const next = await this.#parts.next();
    if (next.done === true) return undefined;
    return next.value.kind === 'field' ? this.#field(next.value) : this.#file(next.value);
  }

  /** Keeps a file in memory until it is known where it goes; its length. */
  async keep(file: FormFile, room: number): Promise<number> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of file.bytes) {
      length += chunk.length;
      if (length > room) {
        throw new GatewayError(
          'request_too_large',
          'Name the model before the file: so much is not kept to look for it.',
        );
      }
      chunks.push(chunk);
    }
    this.held.push({ ...file, bytes: chunks });
    return length;
  }

  async *send(upstreamModel: string): AsyncGenerator<FormPart> {
    for (const part of this.held) yield renamed(part, upstreamModel);
    for (let part = await this.next(); part !== undefined; part = await this.next()) yield renamed(part, upstreamModel);
  }

  async #field(field: FormField): Promise<FormField> {
    const { name, value } = field;
    // Two models in one form are two readings of it.
    if (name === 'model' && this.fields.has(name)) {
      throw new GatewayError('invalid_request', 'The form names its model twice.', { param: 'model' });
    }
    this.fields.set(name, value);
    if (name === 'model') return field;
    const document = readDocument('passthrough', JSON.stringify({ [name]: value }));
    const inspection = await this.#inspect(document);
    if (inspection.edits.length === 0) return field;
    const [[newName, newValue]] = Object.entries(JSON.parse(render(document.text, inspection.edits)) as JsonObject) as [
      [string, string],
    ];
    return { ...field, name: newName, value: newValue };
  }

  #inspect(document: Parameters<PassageStages['inspect']>[0]): Promise<Inspection> {
    return this.#stages.inspect(document, PLAIN, this.#passage.key.workload.policy, [], noting(this.#entry));
  }

  #file(file: FormFile): FormFile {
    const kind = file.mediaType.startsWith('image/') ? 'image' : this.#passage.surface === 'files' ? 'file' : 'audio';
    if (!this.#entry.unscanned.includes(kind)) this.#entry.unscanned = [...this.#entry.unscanned, kind];
    return file;
  }
}

function renamed(part: FormPart, upstreamModel: string): FormPart {
  return part.kind === 'field' && part.name === 'model' ? { ...part, value: upstreamModel } : part;
}

/** Adds what one text of several held to the entry. */
function noting(entry: Entry): (findings: Readonly<Record<string, number>>) => void {
  return (findings) => {
    const sum: Record<string, number> = { ...entry.findings };
    for (const [category, count] of Object.entries(findings)) sum[category] = (sum[category] ?? 0) + count;
    entry.findings = sum;
  };
}

function modelOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'string' && MODEL_ID.test(value)) return value;
  throw new GatewayError('invalid_request', 'model must be a model id: <provider>/<model>', { param: 'model' });
}

/** How many pictures or seconds are asked for; a count that is none is the provider's to refuse, and bounded here. */
function countsOf(body: JsonObject): Pick<ReadBody, 'images' | 'seconds'> {
  const count = (value: unknown, most: number): number | undefined => {
    const number = typeof value === 'string' && /^\d{1,6}$/.test(value) ? Number(value) : value;
    return typeof number === 'number' && Number.isInteger(number) && number > 0 ? Math.min(number, most) : undefined;
  };
  return isObject(body)
    ? { images: count(body['n'], MAX_IMAGES) ?? 1, seconds: count(body['seconds'], 3600) }
    : NO_BODY;
}
