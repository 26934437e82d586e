import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import { isObject } from '#/wire/document/json.ts';

/** What SigV4 covers of a request. */
interface SignedRequest {
  readonly origin: URL;
  /** As it is sent: each segment percent-encoded once. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Gives the headers of a request with its signature among them. */
export type Sign = (request: SignedRequest) => Promise<Record<string, string>>;

/**
 * Signs requests to a region's Bedrock with an access key: JSON with `accessKeyId`, `secretAccessKey` and perhaps
 * `sessionToken`. Throws TypeError where the secret is something else.
 */
export function createSigner(secret: string, region: string): Sign {
  const signer = new SignatureV4({
    service: 'bedrock',
    region,
    credentials: accessKey(secret),
    sha256: Sha256,
    // The canonical path is the sent one, encoded once more: the rule of every AWS service but S3.
    uriEscapePath: true,
  });
  return async ({ origin, path, headers, body }) => {
    const { headers: signed } = await signer.sign({
      method: 'POST',
      protocol: origin.protocol,
      hostname: origin.hostname,
      path,
      query: {},
      headers: { ...headers, host: origin.host },
      body,
    });
    return signed;
  };
}

function accessKey(secret: string): { accessKeyId: string; secretAccessKey: string; sessionToken?: string } {
  let key: unknown;
  try {
    key = JSON.parse(secret);
  } catch {
    // Told below: the text of the error would hold the secret.
  }
  const { accessKeyId, secretAccessKey, sessionToken } = isObject(key) ? key : {};
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') {
    throw new TypeError('an aws_sigv4 credential must be JSON with accessKeyId and secretAccessKey');
  }
  return { accessKeyId, secretAccessKey, ...(typeof sessionToken === 'string' && { sessionToken }) };
}

/** SHA-256 and its HMAC in the form the signer asks for. */
class Sha256 {
  readonly #secret: string | Uint8Array | undefined;
  #state: Hash | Hmac;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#secret = secret === undefined || typeof secret === 'string' ? secret : bytesOf(secret);
    this.#state = this.#begin();
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#state.update(typeof data === 'string' ? data : bytesOf(data));
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#state.digest());
  }

  reset(): void {
    this.#state = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined ? createHash('sha256') : createHmac('sha256', this.#secret);
  }
}

function bytesOf(data: ArrayBuffer | ArrayBufferView): Uint8Array {
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
