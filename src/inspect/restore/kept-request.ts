import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { readDocument, type WireDocument } from '#/wire/document/document.ts';

/** Shorter texts are not packed. */
const PACKED_FROM = 16 * 1024;
/** Longer documents are kept as they are: parsing one again would block the event loop. */
export const READ_AGAIN_UP_TO = 256 * 1024;
const FAST = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** A document, or what it is read from again. */
export type ReadAgain = WireDocument | Pick<WireDocument, 'family' | 'text'>;

/**
 * A request, kept for the few answers whose restoration asks who said a text. Keeps only the source, and parses it again
 * when it is asked for.
 */
export class KeptRequest {
  readonly #family: WireDocument['family'];
  #kept: WireDocument | string | Uint8Array;

  constructor(document: ReadAgain) {
    this.#family = document.family;
    this.#kept = 'root' in document && document.text.length > READ_AGAIN_UP_TO ? document : document.text;
  }

  /** Compresses a long text, on another thread: for answers that stay open. */
  pack(): void {
    if (typeof this.#kept !== 'string' || this.#kept.length < PACKED_FROM) return;
    zstdCompress(Buffer.from(this.#kept), FAST, (error, packed) => {
      // On an error the text stays. A copy, since `packed` may be a view of a larger buffer.
      if (!error) this.#kept = new Uint8Array(packed);
    });
  }

  read(): WireDocument {
    const kept = this.#kept;
    if (typeof kept === 'string') return readDocument(this.#family, kept);
    return 'root' in kept ? kept : readDocument(this.#family, zstdDecompressSync(kept).toString('utf8'));
  }
}
