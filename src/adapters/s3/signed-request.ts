import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { Agent, request } from 'undici';

/** Who asks. */
interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface S3Address {
  /** Bucket, as a path of the endpoint. */
  readonly bucket: string;
  /** `https://…`; without, Amazon's of the region. */
  readonly endpoint?: string;
  readonly region: string;
  /** Read before every request: they may be exchanged for newer ones. */
  readonly credentials: () => Promise<S3Credentials>;
}

export interface S3Answer {
  readonly status: number;
  readonly bytes: Buffer;
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  /** Key of an object; empty for the bucket. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A request to S3 failed, with its own words on why; never with credentials. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly status: number;
  /** S3's error code, such as `AccessDenied`. */
  readonly reason: string;

  constructor(status: number, text: string) {
    const reason = /<Code>([A-Za-z0-9]{1,100})<\/Code>/.exec(text)?.[1] ?? 'no reason given';
    super(`the object storage answered with status ${status}: ${reason}`);
    this.status = status;
    this.reason = reason;
  }
}

const TIMEOUT_MS = 10_000;
/** To the end of the answer. */
const WHOLE_TIMEOUT_MS = 60_000;

/** SHA-256 in the form that the signer asks for. */
class Sha256 {
  readonly #hash: { update(data: string | Uint8Array): unknown; digest(): Buffer };

  constructor(secret?: unknown) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as Uint8Array | string);
  }

  update(data: unknown): void {
    this.#hash.update(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
}

/** Sends requests to one bucket, signed (Signature Version 4). */
export class S3Client {
  readonly #address: S3Address;
  readonly #base: URL;
  readonly #agent = new Agent({ connections: 4, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

  constructor(address: S3Address) {
    this.#address = address;
    this.#base = new URL(address.endpoint ?? `https://s3.${address.region}.amazonaws.com`);
  }

  /** Resolves with any answer; rejects without one. */
  async send({ method, key, query = {}, headers = {}, body }: S3Request): Promise<S3Answer> {
    const path = [this.#address.bucket, ...(key === '' ? [] : key.split('/'))].map(encodeURIComponent).join('/');
    const pathname = `${this.#base.pathname.replace(/\/$/, '')}/${path}`;
    const signer = new SignatureV4({
      service: 's3',
      region: this.#address.region,
      credentials: await this.#address.credentials(),
      sha256: Sha256,
      uriEscapePath: false,
    });
    const { protocol, hostname, port, host } = this.#base;
    const signed = await signer.sign({
      method,
      protocol,
      hostname,
      ...(port !== '' && { port: Number(port) }),
      path: pathname,
      query: { ...query },
      headers: { ...headers, host },
      ...(body !== undefined && { body }),
    });
    const search = new URLSearchParams(query).toString().replaceAll('+', '%20');
    const answer = await request(`${this.#base.origin}${pathname}${search && `?${search}`}`, {
      method,
      headers: signed.headers,
      dispatcher: this.#agent,
      signal: AbortSignal.timeout(WHOLE_TIMEOUT_MS),
      ...(body !== undefined && { body }),
    });
    return { status: answer.statusCode, bytes: Buffer.from(await answer.body.arrayBuffer()) };
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}
