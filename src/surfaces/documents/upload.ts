import { GatewayError } from '#/errors/gateway-error.ts';
import { OPTION_NAMES, readAnonymizeOptions, type AnonymizeOptions } from '#/inspect/attachments/anonymize-options.ts';
import { bareFileName } from '#/inspect/attachments/file-name.ts';
import { requestFault } from '#/pipeline/admit.ts';
import type { Upload } from '#/pipeline/anonymize.ts';
import { readDocument } from '#/wire/document/document.ts';
import type { FormFile, FormPart } from '#/wire/request/multipart-form.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { IncomingBody } from '../body/incoming-body.ts';
import { readForm } from '../passthrough/form-reader.ts';

const MAX_OPTIONS_BYTES = 1024 * 1024;

/**
 * Reads the form of a document: part `file`, and part `options` as JSON. // spec 2.5
 * Throws `invalid_request`, `request_too_large` for a file of more than `limit` bytes, or `unsupported_media_type`.
 */
export async function readUpload(body: IncomingBody, limit: number): Promise<Upload> {
  let file: Upload['file'] | undefined;
  let options: string | undefined;
  for await (const part of readForm(body.form(), body.contentType, body.keep)) {
    if (part.name === 'file' && part.kind === 'file' && !file) file = await toFile(part, limit, body.keep);
    else if (part.name === 'options' && options === undefined) options = await toText(part, body.keep);
    else throw invalid(misplaced(part), part.name === 'options' ? 'options' : 'file');
  }
  if (!file) throw invalid('The form must have a part file with the document and its filename.', 'file');
  return { file, options: readOptions(options ?? '{}') };
}

function misplaced({ name, kind }: FormPart): string {
  if (name === 'file' && kind === 'field') return 'The part file must have a filename.';
  if (name === 'file' || name === 'options') return `The form must have only one part ${name}.`;
  return 'The form may have only the parts file and options.';
}

async function toFile(
  { filename, mediaType, bytes }: FormFile,
  limit: number,
  keep: (bytes: number) => void,
): Promise<Upload['file']> {
  const name = bareFileName(filename);
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  return { name, mediaType: type === '' ? 'application/octet-stream' : type, bytes: await gather(bytes, limit, keep) };
}

/** Some clients send JSON as a file. */
async function toText(part: FormPart, keep: (bytes: number) => void): Promise<string> {
  if (part.kind === 'field') return part.value;
  return (await gather(part.bytes, MAX_OPTIONS_BYTES, keep)).toString('utf8');
}

async function gather(bytes: FormFile['bytes'], limit: number, keep: (bytes: number) => void): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > limit) throw new GatewayError('request_too_large', 'The document is too large.', { param: 'file' });
    keep(chunk.length);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}

const MEMBERS: ReadonlySet<string> = new Set(OPTION_NAMES);

/** A member that is not known might be one that was meant to keep something in. */
function readOptions(text: string): AnonymizeOptions {
  const body = parse(text);
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (unknown !== undefined) throw invalid(`options may have only ${[...MEMBERS].join(', ')}.`, 'options');
  return readAnonymizeOptions(body);
}

function parse(text: string): JsonObject {
  try {
    return readDocument('documents', text).body;
  } catch (thrown) {
    const fault = requestFault(thrown);
    throw fault instanceof GatewayError ? invalid('options must be a JSON object.', 'options') : fault;
  }
}

function invalid(message: string, param: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
