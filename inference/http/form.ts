import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { DocumentFault, type DocumentFile } from '#/ports/documents.ts';

/** An invalid form: 400. The message is sent to the client. */
export class RequestFault extends Error {
  override readonly name = 'RequestFault';
}

/** What a request carries: options as JSON said them, and a document. */
export interface Form {
  readonly options: unknown;
  readonly file: DocumentFile;
}

const DEFAULT_TYPE = 'application/octet-stream';

/**
 * Reads the two parts of a request, `options` and `document`, of at most `maxBytes` each. Rejects with `RequestFault`,
 * with `too_large`, or with the signal's reason.
 */
export function readForm(request: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Form> {
  return new Promise((resolve, reject) => {
    let options: string | undefined;
    let file: DocumentFile | undefined;
    const parser = openParser(request, maxBytes);
    const fail = (error: Error): void => {
      request.unpipe(parser);
      reject(error);
    };
    const tooLarge = (): void =>
      fail(new DocumentFault('too_large', `the document has more than ${maxBytes / 1024 / 1024} MiB`));
    parser.on('field', (name, value, _nameTruncated, truncated) => {
      if (truncated) tooLarge();
      else if (name === 'options' && options === undefined) options = value;
      else fail(new RequestFault('the form has an unknown field'));
    });
    parser.on('file', (name, stream, filename, _encoding, mediaType) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('limit', tooLarge);
      stream.on('error', () => fail(new RequestFault('the form ends early')));
      stream.on('end', () => {
        if (name === 'document') file = { name: filename ?? '', mediaType: bare(mediaType), bytes: join(pieces) };
        else fail(new RequestFault('the form has an unknown file'));
      });
    });
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
      parser.on(limit, () => fail(new RequestFault('the form has too many parts')));
    parser.on('error', () => fail(new RequestFault('the form cannot be read completely')));
    parser.on('finish', () => {
      try {
        if (options === undefined || !file) throw new RequestFault('the form lacks options or document');
        resolve({ options: parse(options), file });
      } catch (error) {
        reject(error);
      }
    });
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
    request.pipe(parser);
  });
}

function openParser(request: IncomingMessage, maxBytes: number): InstanceType<typeof Busboy> {
  const limits = {
    fields: 1,
    files: 1,
    parts: 2,
    fieldNameSize: 100,
    fieldSize: maxBytes,
    fileSize: maxBytes,
    headerPairs: 20,
  };
  const contentType = request.headers['content-type'] ?? '';
  try {
    return new Busboy({ headers: { 'content-type': contentType }, limits });
  } catch {
    throw new RequestFault('the request must be a multipart form');
  }
}

function bare(mediaType: string | undefined): string {
  return mediaType?.split(';')[0]?.trim().toLowerCase() || DEFAULT_TYPE;
}

/** A buffer of its own: it is handed over to a thread, whole. */
function join(pieces: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RequestFault('options must be JSON');
  }
}
