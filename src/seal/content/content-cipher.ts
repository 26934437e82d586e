import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomFillSync,
  type KeyObject,
} from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MasterKey } from '#/config/master-keys.ts';

/** What content is encrypted for: nowhere else can it be decrypted. */
export interface ContentPlace {
  readonly organization: string;
  readonly purpose: 'answer' | 'content' | 'job' | 'session';
  /** The cache entry's name, the call's id, the job's with what it is of the job, or what a client keeps and of whom. */
  readonly name: string;
}

/**
 * AES-256-GCM with a key of its own for every organization and purpose, derived from a master key by HKDF-SHA256. The
 * newest master key encrypts; what an older one has encrypted can still be decrypted. // spec 4.3.4
 */
export interface ContentCipher {
  encrypt(place: ContentPlace, content: Uint8Array): Buffer;
  /**
   * Undefined for content that was changed, belongs to another place, or was encrypted with a key that is no longer
   * known.
   */
  decrypt(place: ContentPlace, encrypted: Uint8Array): Buffer | undefined;
  /** What a text is called in an organization's cache, a name for each master key, the newest first. */
  names(organization: string, text: string): readonly string[];
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;
/** Derived keys kept ready. */
const MOST_DERIVED = 10_000;

/** `keys`: the newest first. Throws RangeError without keys, or if one is invalid. */
export function createContentCipher(keys: readonly MasterKey[]): ContentCipher {
  const [newest] = keys;
  if (!newest) throw new RangeError('at least one master key is needed');
  for (const { id, secret } of keys) {
    if (secret.length !== KEY_BYTES || !/^[\x21-\x7e]{1,32}$/.test(id))
      throw new RangeError('a master key has 32 bytes');
  }
  const byId = new Map(keys.map((key) => [key.id, key]));
  if (byId.size < keys.length) throw new RangeError('two master keys have the same id');
  const derived = new LRUCache<string, KeyObject>({ max: MOST_DERIVED });
  const keyFor = (
    { id, secret }: MasterKey,
    purpose: ContentPlace['purpose'] | 'name',
    organization: string,
  ): KeyObject => {
    const use = `${id} ${purpose} ${organization}`;
    let key = derived.get(use);
    if (key === undefined) {
      const info = `gatewarden ${purpose} v1\n${organization}`;
      key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, new Uint8Array(0), info, KEY_BYTES)));
      derived.set(use, key);
    }
    return key;
  };
  return {
    encrypt(place, content) {
      const head = headOf(newest.id);
      const cipher = createCipheriv('aes-256-gcm', keyFor(newest, place.purpose, place.organization), head.nonce);
      cipher.setAAD(boundTo(place, newest.id));
      return Buffer.concat([head.bytes, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
    },
    decrypt(place, encrypted) {
      const parts = readEnvelope(encrypted);
      const key = parts && byId.get(parts.id);
      if (!parts || !key) return undefined;
      const decipher = createDecipheriv(
        'aes-256-gcm',
        keyFor(key, place.purpose, place.organization),
        parts.nonce,
        TAG_LENGTH,
      );
      decipher.setAAD(boundTo(place, key.id)).setAuthTag(parts.tag);
      try {
        const content = decipher.update(parts.content);
        decipher.final();
        return content;
      } catch {
        return undefined;
      }
    },
    names(organization, text) {
      const digest = hash('sha256', text, 'buffer');
      return keys.map((key) =>
        createHmac('sha256', keyFor(key, 'name', organization))
          .update(digest)
          .digest('base64url'),
      );
    },
  };
}

const TAG_LENGTH = { authTagLength: TAG_BYTES } as const;

/** Version, length of the key's id, the id, a nonce; then follow the content and its tag. */
function headOf(id: string): { readonly bytes: Buffer; readonly nonce: Buffer } {
  const bytes = Buffer.allocUnsafe(2 + id.length + NONCE_BYTES);
  bytes[0] = VERSION;
  bytes[1] = id.length;
  bytes.write(id, 2, 'latin1');
  const nonce = bytes.subarray(2 + id.length);
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  nonce.set(random.subarray(used, (used += NONCE_BYTES)));
  return { bytes, nonce };
}

/** Randomness is drawn in bulk; none is used twice. */
const random = new Uint8Array(NONCE_BYTES * 256);
let used = random.length;

interface Envelope {
  readonly id: string;
  readonly nonce: Uint8Array;
  readonly content: Uint8Array;
  readonly tag: Uint8Array;
}

function readEnvelope(encrypted: Uint8Array): Envelope | undefined {
  const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.length);
  const start = 2 + (bytes[1] ?? 0);
  const end = bytes.length - TAG_BYTES;
  if (bytes[0] !== VERSION || end < start + NONCE_BYTES) return undefined;
  return {
    id: bytes.toString('latin1', 2, start),
    nonce: bytes.subarray(start, start + NONCE_BYTES),
    content: bytes.subarray(start + NONCE_BYTES, end),
    tag: bytes.subarray(end),
  };
}

/** Authenticated in addition to the content, so that it cannot be moved to another place. */
function boundTo({ organization, purpose, name }: ContentPlace, keyId: string): Buffer {
  return Buffer.from(JSON.stringify([VERSION, keyId, purpose, organization, name]));
}
