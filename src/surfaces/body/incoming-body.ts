import { isAscii } from 'node:buffer';
import { Transform, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { inSlices } from '#/runtime/loop-slices.ts';
import type { Steps } from '#/wire/document/steps.ts';
import { authenticatedOf } from '../endpoint/authenticated-request.ts';
import type { BodyPlace, BodyRoom } from './body-room.ts';
import { COUNT_FROM, GatheredText } from './gathered-text.ts';
import { PACE, SlowBody, type Pace } from './slow-body.ts';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

export interface BodyDeps {
  readonly room: BodyRoom;
  /** How slowly bodies may come; `PACE` unless given. */
  readonly pace?: Pace;
}

/** What a byte takes more where the text is not ASCII: its characters take two bytes each in every copy. */
const MORE_PER_BYTE = 6;
/** What a value of JSON takes beyond its bytes: the value itself, and where it stands in the text. */
const MEMORY_PER_VALUE = 150;

const NOTHING = Buffer.alloc(0);

/** A request's body, which takes room as it arrives. Dispose of it when the call is over. */
export class IncomingBody implements Disposable {
  readonly contentType: string;
  /** Bytes as the sender announces them; undefined where it does not, or where they are to be decoded. */
  readonly length: number | undefined;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #payload: Readable | undefined;
  readonly #key: VirtualKeyConfig;
  readonly #place: BodyPlace;
  readonly #largest: number;
  readonly #pace: Pace;
  #slow: SlowBody | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, { room, pace = PACE }: BodyDeps) {
    const { key } = authenticatedOf(request);
    const { headers, body } = request;
    this.#request = request;
    this.#reply = reply;
    // No parser of ours gives anything else.
    this.#payload = (body as Readable | null | undefined) ?? undefined;
    this.#key = key;
    this.#place = room.enter({ key: key.id, organization: key.workload.organization.id });
    this.#largest = room.largest;
    this.#pace = pace;
    this.contentType = headers['content-type'] ?? '';
    const announced = Number(headers['content-length'] ?? Number.NaN);
    this.length = Number.isSafeInteger(announced) && headers['content-encoding'] === undefined ? announced : undefined;
  }

  get present(): boolean {
    return this.#payload !== undefined;
  }

  get isForm(): boolean {
    return isForm(this.contentType);
  }

  /** Takes room for bytes that a reader of `stream` keeps. Throws as `BodyPlace.take` does. */
  get keep(): (bytes: number) => void {
    return (bytes) => this.#place.take(bytes);
  }

  /** Throws like `BodyPlace.take` if there is no room for the announced length. */
  expect(): void {
    if (this.length !== undefined) this.#place.expect(Math.min(this.length, this.#largest));
  }

  /** Gives the room back. */
  [Symbol.dispose](): void {
    this.#slow?.[Symbol.dispose]();
    this.#slow = undefined;
    this.#place[Symbol.dispose]();
  }

  /**
   * The text of a JSON body; empty without one. Throws `unsupported_media_type`, `request_too_large`,
   * `invalid_request` unless it is complete UTF-8 text, and errors of `BodyPlace.take`.
   */
  async json(): Promise<string> {
    if (!this.#payload) return '';
    if (this.contentType !== 'application/json') requireJson(this.contentType);
    if (this.length !== undefined && this.length > this.#largest) throw this.#tooLarge();
    // Bytes that came with the head can be read from the next microtask on, without listeners and a timeout.
    await Promise.resolve();
    if (this.#payload.destroyed) throw endedEarly();
    const text = this.#request.raw.readableLength === this.length ? this.#arrived() : await this.#gather();
    if (typeof text === 'string') return text;
    this.#place.take(text.values, MEMORY_PER_VALUE);
    const { id: workload, organization } = this.#key.workload;
    return text.isLarge ? inSlices({ organization: organization.id, workload }, wholly(text)) : text.whole();
  }

  /** The body of a form as it comes, decoded. Is destroyed with a `GatewayError` where it does not come to its end. */
  form(): Readable {
    if (!this.#payload || !this.isForm) throw unsupported('The request body must be multipart/form-data.');
    return this.#stream();
  }

  /** The body as it comes, decoded, whatever it is. Is destroyed as that of `form` is. */
  bytes(): Readable {
    if (!this.#payload) throw unsupported('The request has no body.');
    return this.#stream();
  }

  /** The text of a body all of which came with its head, as small ones do. */
  #arrived(): string | GatheredText {
    const { raw } = this.#request;
    const bytes = (raw.read() as Buffer | null) ?? NOTHING;
    // So that its end is noticed.
    raw.resume();
    this.#place.take(bytes.length);
    // Nothing is to be decoded, and no values are to be counted.
    if (bytes.length <= COUNT_FROM && isAscii(bytes)) return bytes.toString('latin1');
    const text = new GatheredText();
    text.add(bytes);
    if (!text.isAscii) this.#place.take(bytes.length, MORE_PER_BYTE);
    return text;
  }

  /** The text of all of the body, read as it comes, with room taken for each piece of it. */
  #gather(): Promise<GatheredText> {
    this.expect();
    const { promise, resolve, reject } = Promise.withResolvers<GatheredText>();
    const encoded = this.#request.headers['content-encoding'] !== undefined;
    const source = encoded ? this.#stream() : this.#payload!;
    const text = new GatheredText();
    let size = 0;
    const stop = (error: unknown): void => {
      source.off('data', take).pause();
      // Not the payload itself: the client is still to be answered on its connection.
      if (encoded) source.destroy();
      reject(error instanceof GatewayError ? error : endedEarly());
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      try {
        if (size > this.#largest) throw this.#tooLarge();
        this.#place.take(chunk.length);
        text.add(chunk);
      } catch (error) {
        stop(error);
      }
    };
    const closed = (): void => {
      if (!source.readableEnded) stop(undefined);
    };
    source.on('error', stop);
    source.on('close', closed);
    source.once('end', () => {
      // The source lives as long as the call: its listeners and its watch would hold the text.
      source.on('error', ignore).off('error', stop).off('close', closed).off('data', take);
      this.#slow?.[Symbol.dispose]();
      this.#slow = undefined;
      try {
        if (!text.isAscii) this.#place.take(size, MORE_PER_BYTE);
        resolve(text);
      } catch (error) {
        stop(error);
      }
    });
    if (!encoded) this.#begin(stop);
    source.on('data', take);
    return promise;
  }

  /** The body as it comes, decoded. */
  #stream(): Readable {
    const payload = this.#payload!;
    const decoder = decoderFor(this.#request.headers['content-encoding']);
    let size = 0;
    const out = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        done(decoder?.faultOf(size) ?? null, chunk);
      },
    });
    const fail = (error: GatewayError): void => {
      payload.unpipe();
      out.destroy(error);
    };
    out.once('error', () => payload.unpipe());
    // Decoders hold memory that is not of the heap.
    out.once('close', () => decoder?.stream.destroy());
    payload.once('error', () => fail(endedEarly()));
    payload.once('close', () => {
      if (!payload.readableEnded) fail(endedEarly());
    });
    if (decoder) {
      decoder.stream.once('error', () => fail(undecodable()));
      payload.pipe(decoder.stream).pipe(out);
    } else payload.pipe(out);
    this.#begin(fail);
    return out;
  }

  /** The body is wanted from now on, and no slower than `Pace` says. */
  #begin(drop: (error: GatewayError) => void): void {
    const { raw, headers } = this.#request;
    // A client that waits to be asked has sent nothing where it was refused.
    if (headers.expect !== undefined) this.#reply.raw.writeContinue();
    if (!raw.complete) this.#slow = new SlowBody(raw, this.#pace, drop);
  }

  #tooLarge(): GatewayError {
    const most = Math.floor(this.#largest / 1024);
    return new GatewayError('request_too_large', `The request body is too large: it may have at most ${most} KiB.`);
  }
}

function ignore(): void {}

function endedEarly(): GatewayError {
  return new GatewayError('invalid_request', 'The request body ended early.');
}

// oxlint-disable-next-line require-yield -- one step: everything is copied at once
function* wholly(text: GatheredText): Steps<string> {
  return text.whole();
}

const JSON_TYPE = /^application\/json(?=[\t ;]|$)/i;
const FORM_TYPE = /^multipart\/form-data(?=[\t ;]|$)/i;
const CHARSET = /;[\t ]*charset[\t ]*=[\t ]*"?([^\s";]*)/gi;

export function isForm(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}

export function isJson(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}

/** Throws `unsupported_media_type` unless it is JSON in UTF-8, the only encoding of JSON. // RFC 8259 8.1 */
function requireJson(contentType: string): void {
  if (!isJson(contentType)) throw unsupported('The request body must be application/json.');
  for (const [, charset = ''] of contentType.matchAll(CHARSET)) {
    if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
      throw unsupported('The charset of a JSON body must be utf-8. Send the body in UTF-8 and omit charset.');
    }
  }
}

export function unsupported(message: string): GatewayError {
  return new GatewayError('unsupported_media_type', message);
}

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
interface Decoder {
  readonly stream: Transform;
  /** `request_too_large` where so many bytes came out of so few that it is no honest body. */
  faultOf(bytesOut: number): GatewayError | undefined;
}

/** The decoder for a `Content-Encoding`; undefined where the body is as it is. Throws `unsupported_media_type`. */
function decoderFor(header: string | undefined): Decoder | undefined {
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
function undecodable(): GatewayError {
  return new GatewayError('invalid_request', 'The request body does not match its Content-Encoding.', {
    param: 'content-encoding',
  });
}
