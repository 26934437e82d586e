/** A document without personal data, and what it had. // spec 2.5 */
export interface Anonymized {
  readonly filename: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
  readonly pages: number;
  readonly images: number;
  readonly categories: readonly string[];
  readonly downgraded: boolean;
  /** Undefined unless it was asked for. */
  readonly mapping: readonly { readonly token: string; readonly original: string }[] | undefined;
}

/** Its description, without its content. */
export function summaryOf({ pages, images, categories, downgraded }: Anonymized) {
  return { pages, images, categories, downgraded };
}

/** As clients are sent it. // spec 2.5 */
export function anonymizedAnswer(document: Anonymized) {
  const { filename, mediaType, bytes, mapping } = document;
  return {
    filename,
    content_type: mediaType,
    content_base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
    summary: summaryOf(document),
    ...(mapping && { mapping }),
  };
}
