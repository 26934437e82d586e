import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { GatewayError } from '#/errors/gateway-error.ts';
import { unsupported } from './body-type.ts';

/** So much comes out at a time: a body that grows is noticed before it has grown. */
const CHUNK = { chunkSize: 64 * 1024 };
/** Larger windows of zstd are not needed by HTTP. // RFC 9659 */
const ZSTD_WINDOW = { ...CHUNK, params: { [constants.ZSTD_d_windowLogMax]: 23 } };

/** Bytes out for each byte in; text repeats itself less than this. */
const MOST_RATIO = 100;
/** The ratio is not asked before this much has come out. */
const FREE_BYTES = 1024 * 1024;

const DECODERS: Readonly<Record<string, () => Transform & { readonly bytesWritten: number }>> = {
  gzip: () => createGunzip(CHUNK),
  'x-gzip': () => createGunzip(CHUNK),
  deflate: () => createInflate(CHUNK),
  br: () => createBrotliDecompress(CHUNK),
  zstd: () => createZstdDecompress(ZSTD_WINDOW),
};

/** Decodes a body as it streams. */
export interface Decoder {
  readonly stream: Transform;
  /** `request_too_large` where so many bytes came out of so few that it is no honest body. */
  faultOf(bytesOut: number): GatewayError | undefined;
}

/** The decoder for a `Content-Encoding`; undefined where the body is as it is. Throws `unsupported_media_type`. */
export function decoderFor(header: string | undefined): Decoder | undefined {
  const coding = (header ?? '').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return undefined;
  const create = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (!create) throw unsupported('Content-Encoding must be one of gzip, deflate, br, zstd, sent once, or absent.');
  const stream = create();
  return {
    stream,
    faultOf(bytesOut) {
      if (bytesOut <= FREE_BYTES || bytesOut <= stream.bytesWritten * MOST_RATIO) return undefined;
      return new GatewayError(
        'request_too_large',
        `The decompressed request body is more than ${MOST_RATIO} times as large as the compressed one. Send it with less compression.`,
      );
    },
  };
}

/** A body that is not in the coding that its header names, or not all of it. */
export function undecodable(): GatewayError {
  return new GatewayError('invalid_request', 'The request body does not match its Content-Encoding.', {
    param: 'content-encoding',
  });
}
