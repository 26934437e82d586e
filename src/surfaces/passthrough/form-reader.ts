import type { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { FormPart } from '#/wire/request/multipart-form.ts';

/** A form with more fields, or longer ones, is no honest upload. */
const MOST = { fields: 100, files: 32, nameSize: 200, fieldSize: 1024 * 1024 };
const LIMITS = { files: MOST.fields + MOST.files, parts: MOST.fields + MOST.files, headerPairs: 50 };
/** Stands for bytes of a name that are no UTF-8. */
const UNREAD = '\ufffd';
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a multipart form part by part, as it arrives: a file is to be read to its end before the next part is asked
 * for. `keep` reserves memory for the fields. Throws `invalid_request` for a body that is not a complete form, or has
 * fields that are no UTF-8, `request_too_large`, and what `keep` throws.
 */
export function readForm(
  body: Readable,
  contentType: string,
  keep: (bytes: number) => void,
): AsyncGenerator<FormPart, undefined> {
  return new FormReader(body, contentType, keep).parts();
}

class FormReader {
  readonly #body: Readable;
  readonly #parser: InstanceType<typeof Busboy>;
  /** In the order of the form: a field takes its place when it begins. */
  readonly #queue: { part?: FormPart }[] = [];
  readonly #files = new Set<BusboyFileStream>();
  #ended = false;
  #failure: Error | undefined;
  #wake: () => void = () => {};

  constructor(body: Readable, contentType: string, keep: (bytes: number) => void) {
    this.#body = body;
    try {
      // The parser would put other letters in the place of bytes that it cannot read: it gives out bytes alone.
      const isPartAFile = (): boolean => true;
      const headers = { 'content-type': contentType };
      this.#parser = new Busboy({ headers, limits: LIMITS, preservePath: true, isPartAFile });
    } catch {
      throw malformed();
    }
    let fields = 0;
    this.#parser.on('file', (name: string | undefined, stream, filename: string | undefined, _encoding, mediaType) => {
      this.#files.add(stream);
      stream.once('close', () => this.#files.delete(stream));
      stream.on('error', (error) => this.#fail(error));
      if (name === undefined || name.includes(UNREAD)) return this.#fail(notUtf8('The name of a field of the form'));
      if (name.length > MOST.nameSize) return this.#fail(tooLarge());
      if (filename !== undefined || mediaType === 'application/octet-stream')
        return this.#add({ kind: 'file', name, filename: filename ?? '', mediaType, bytes: stream });
      if (++fields > MOST.fields) return this.#fail(tooLarge());
      this.#readField(name, stream, keep);
    });
    for (const limit of ['partsLimit', 'filesLimit'] as const) {
      this.#parser.on(limit, () => this.#fail(tooLarge()));
    }
    this.#parser.on('error', () => this.#fail(malformed()));
    this.#parser.on('finish', () => {
      this.#ended = true;
      this.#wake();
    });
    body.once('error', (error) => this.#fail(error instanceof GatewayError ? error : malformed()));
    body.once('close', () => {
      if (!body.readableEnded) this.#fail(malformed());
    });
    body.pipe(this.#parser);
  }

  async *parts(): AsyncGenerator<FormPart, undefined> {
    try {
      for (;;) {
        if (this.#failure) throw this.#failure;
        const part = this.#queue[0]?.part;
        if (part) {
          this.#queue.shift();
          yield part;
        } else if (this.#ended && this.#queue.length === 0) return undefined;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.#body.unpipe(this.#parser);
      this.#body.resume();
    }
  }

  #readField(name: string, stream: BusboyFileStream, keep: (bytes: number) => void): void {
    const place: { part?: FormPart } = {};
    this.#queue.push(place);
    const chunks: Buffer[] = [];
    let size = 0;
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MOST.fieldSize) return this.#fail(tooLarge());
      chunks.push(chunk);
    });
    stream.once('end', () => {
      try {
        keep(size);
        place.part = { kind: 'field', name, value: UTF_8.decode(Buffer.concat(chunks)) };
        this.#wake();
      } catch (error) {
        this.#fail(error instanceof GatewayError ? error : notUtf8(`The field ${name} of the form`));
      }
    });
  }

  #add(part: FormPart): void {
    this.#queue.push({ part });
    this.#wake();
  }

  /** Also ends the wait of a caller that is reading a file. */
  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    for (const file of this.#files) file.destroy(error);
    this.#wake();
  }
}

function malformed(): GatewayError {
  return new GatewayError('invalid_request', 'The form is incomplete.');
}

function notUtf8(what: string): GatewayError {
  return new GatewayError('invalid_request', `${what} is not valid UTF-8. Send the form in UTF-8.`);
}

function tooLarge(): GatewayError {
  return new GatewayError('request_too_large', 'The form has too many parts, or a field that is too long.');
}
