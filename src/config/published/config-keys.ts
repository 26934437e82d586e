import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
  type KeyObject,
} from 'node:crypto';
import type { MasterKey } from '../master-keys.ts';

/** Whose secret it is: it opens nowhere else. */
export interface SecretPlace {
  readonly namespace: string;
  /** Of the Secret. */
  readonly name: string;
  readonly key: string;
}

/**
 * What the controller and its gateways share and the store in between does not have. Secrets are sealed with AES-256-GCM,
 * manifests signed with HMAC-SHA256, each by a key derived (HKDF) from a master key; the newest one is used, older ones
 * still open and verify.
 */
export interface ConfigKeys {
  seal(place: SecretPlace, secret: string): string;
  /** Undefined when it was sealed with a key that is not known, for another place, or was changed. */
  open(place: SecretPlace, sealed: string): string | undefined;
  /** Whether it was sealed with the newest key. */
  isNewest(sealed: string): boolean;
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

interface Derived {
  readonly id: string;
  readonly sealing: KeyObject;
  readonly signing: KeyObject;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `masters`: the newest first. Throws RangeError if it is empty. */
export function createConfigKeys(masters: readonly MasterKey[]): ConfigKeys {
  const keys = masters.map(({ id, secret }): Derived => {
    const derive = (use: string): KeyObject =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secret, new Uint8Array(0), `gatewarden config ${use} v1`, 32)));
    return { id, sealing: derive('sealing'), signing: derive('signing') };
  });
  const [newest] = keys;
  if (!newest) throw new RangeError('at least one master key is needed');
  const find = (text: string): { readonly key: Derived; readonly rest: string } | undefined => {
    const colon = text.indexOf(':');
    const key = keys.find(({ id }) => id === text.slice(0, colon));
    return key && { key, rest: text.slice(colon + 1) };
  };
  return {
    seal(place, secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', newest.sealing, nonce).setAAD(boundTo(place, newest.id));
      const content = [nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${newest.id}:${Buffer.concat(content).toString('base64')}`;
    },
    open(place, sealed) {
      const found = find(sealed);
      const bytes = Buffer.from(found?.rest ?? '', 'base64');
      if (!found || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const { sealing, id } = found.key;
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', sealing, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(boundTo(place, id)).setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([opened, decipher.final()]).toString('utf8');
      } catch {
        return undefined;
      }
    },
    isNewest: (sealed) => find(sealed)?.key === newest,
    sign: (text) => `${newest.id}:${mac(newest, text).toString('base64')}`,
    verify(text, signature) {
      const found = find(signature);
      if (!found) return false;
      const [expected, given] = [mac(found.key, text), Buffer.from(found.rest, 'base64')];
      return given.length === expected.length && timingSafeEqual(given, expected);
    },
  };
}

function mac({ signing }: Derived, text: string): Buffer {
  return createHmac('sha256', signing).update(text).digest();
}

/** Authenticated in addition to the secret, so that it cannot be moved to another place. */
function boundTo({ namespace, name, key }: SecretPlace, keyId: string): Buffer {
  return Buffer.from(JSON.stringify(['config', keyId, namespace, name, key]));
}
