import { GatewayError } from '#/errors/gateway-error.ts';
import { protection } from '#/inspect/refusals.ts';
import { imagesRule, unreadableReason } from '#/inspect/unreadable.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { EXTENSION } from '#/wire/document/document.ts';
import type { FormField, FormFile, FormPart } from '#/wire/request/multipart-form.ts';
import { foldedName } from '#/wire/request/request-shape.ts';
import { requestFault } from '../admit.ts';
import { refuseClaimsOfForm, refuseToolServersOfForm } from './claims.ts';
import { countsOf, DECIDING } from './counts.ts';
import { inspectedField, inspectedTexts, inspectIdsOf } from './text.ts';
import type { PassthroughInspector } from './inspector.ts';

const MEDIA_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,128}$/;

/** The parts of a form, each inspected as it comes: fields as text, files as unreadable content. */
export class InspectedForm {
  readonly fields = new Map<string, string>();
  /** Parts that were read already, in their order. */
  readonly held: FormPart[] = [];
  readonly #parts: AsyncIterator<FormPart>;
  readonly #inspector: PassthroughInspector;
  /** Fields as they came, for the scope guard. */
  readonly #said: (readonly [name: string, value: string])[] = [];
  #guarded: boolean;

  constructor(parts: AsyncIterator<FormPart>, inspector: PassthroughInspector) {
    this.#parts = parts;
    this.#inspector = inspector;
    this.#guarded = inspector.call.surface === 'files';
  }

  async next(): Promise<FormPart | undefined> {
    const next = await this.#parts.next();
    if (next.done === true) return this.#end();
    return next.value.kind === 'field' ? this.#field(next.value) : this.#file(next.value);
  }

  /** Keeps a file in memory until it is known where it goes; its length. */
  async keep(file: FormFile, room: number, keep: (bytes: number) => void): Promise<number> {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of file.bytes) {
      length += chunk.length;
      if (length > room) {
        throw new GatewayError(
          'request_too_large',
          'The file is too large to buffer until the model is known. Put the model before the file in the form, or send a smaller file.',
        );
      }
      keep(chunk.length);
      chunks.push(chunk);
    }
    this.held.push({ ...file, bytes: chunks });
    return length;
  }

  /** All parts, with the model as the provider knows it. Throws `GatewayError` for what only then turns out. */
  async *send(upstreamModel: string): AsyncGenerator<FormPart> {
    for (const part of this.held) yield renamed(part, upstreamModel);
    try {
      for (let part = await this.next(); part; part = await this.next()) yield renamed(part, upstreamModel);
    } catch (thrown) {
      throw requestFault(thrown);
    }
  }

  /** What a form says is only known at its end. */
  async #end(): Promise<undefined> {
    if (this.#guarded) return;
    this.#guarded = true;
    await this.#inspector.guard({ family: 'passthrough', members: this.#said });
  }

  async #field(field: FormField): Promise<FormField> {
    const { name, value } = field;
    this.#check(name, value);
    refuseClaimsOfForm(name, value);
    refuseToolServersOfForm(name, value, this.#inspector.call.key);
    this.fields.set(name, value);
    this.#said.push([name, value]);
    if (name === 'model') {
      await inspectIdsOf('model', [value], this.#inspector);
      return field;
    }
    const [newName, newValue] = await inspectedField(field, this.#inspector);
    return { ...field, name: newName, value: newValue };
  }

  /** Two of what decides about a call are two readings of it, and so are names that differ in case alone. */
  #check(name: string, value: string): void {
    const folded = foldedName(name);
    if (EXTENSION.test(folded)) {
      throw new BadRequestShape('gw is supported in JSON bodies only, not in forms', name);
    }
    if (!DECIDING.includes(folded)) return;
    if (folded !== name || this.fields.has(name)) {
      throw new BadRequestShape(`The form must have ${folded} once, in lower case`, folded);
    }
    countsOf(this.#inspector.call, { [name]: value });
  }

  /** Its bytes are not inspected; its name is text. */
  async #file(file: FormFile): Promise<FormFile> {
    const kind = kindOf(file, this.#inspector.call.surface);
    this.#inspector.misses(kind);
    // Images in forms are not inspected: they pass, or are refused before anything is sent; so are files of unknown
    // kind.
    const { dlp } = this.#inspector.call.key.workload.policy;
    const mayRefuse =
      this.#inspector.call.surface === 'passthrough' || (kind === 'image' && imagesRule(dlp) !== 'pass');
    const reason = mayRefuse ? unreadableReason(kind, dlp, 'passed') : undefined;
    if (reason !== undefined) throw protection(reason);
    const texts = [file.name, file.filename];
    const [name = '', filename = ''] = await inspectedTexts(texts, this.#inspector);
    const mediaType = MEDIA_TYPE.test(file.mediaType) ? file.mediaType : 'application/octet-stream';
    return { ...file, name, filename, mediaType };
  }
}

/** What a provider takes a file for: where pictures are expected one is a picture, whatever it says of itself. */
function kindOf({ mediaType }: FormFile, surface: string): 'image' | 'file' | 'audio' {
  if (mediaType.startsWith('image/') || surface === 'images' || surface === 'videos') return 'image';
  return surface === 'audio' ? 'audio' : 'file';
}

function renamed(part: FormPart, upstreamModel: string): FormPart {
  return part.kind === 'field' && part.name === 'model' ? { ...part, value: upstreamModel } : part;
}
