/** One part of a multipart form. */
export type FormPart = FormField | FormFile;

export interface FormField {
  readonly kind: 'field';
  readonly name: string;
  readonly value: string;
}

export interface FormFile {
  readonly kind: 'file';
  readonly name: string;
  readonly filename: string;
  readonly mediaType: string;
  /** To be read once, before the next part is asked for. */
  readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Writes a form (RFC 7578) as its parts come. `boundary` must not occur in any of them: make it random. */
export async function* encodeForm(parts: AsyncIterable<FormPart>, boundary: string): AsyncGenerator<Uint8Array> {
  for await (const part of parts) {
    const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(part.name)}"`;
    if (part.kind === 'field') {
      yield Buffer.from(`${disposition}\r\n\r\n${part.value}\r\n`);
    } else {
      yield Buffer.from(
        `${disposition}; filename="${quoted(part.filename)}"\r\nContent-Type: ${part.mediaType}\r\n\r\n`,
      );
      yield* part.bytes;
      yield Buffer.from('\r\n');
    }
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

/** As browsers write names: what would end the quoted string is percent-encoded. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
