import { createHmac, createSecretKey, hkdfSync, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { MasterKey } from '#/config/master-keys.ts';

/** Where something can be fetched without a key, for a while. */
export interface SignedAddress {
  readonly id: string;
  /** Seconds since the epoch, as the address says it. */
  readonly until: string;
  /** Base64url. */
  readonly signature: string;
}

/** Signs addresses with a key that gateways derive from their content keys, so that each can check what another gave. */
export interface AddressSigner {
  /** `until`: milliseconds since the epoch; cut down to seconds. */
  sign(id: string, until: number): SignedAddress;
  /** True of an address that was signed here, with any known key, and whose time is not over. */
  holds(address: SignedAddress, now: number): boolean;
}

const KEY_BYTES = 32;

/** `keys`: the newest first; it signs. `purpose`: an address that was signed for one holds for no other. */
export function createAddressSigner(keys: readonly MasterKey[], purpose: string): AddressSigner {
  const derived = keys.map(({ secret }) => derive(secret, purpose));
  const [newest] = derived;
  if (!newest) throw new RangeError('at least one master key is needed');
  return {
    sign(id, until) {
      const seconds = String(Math.floor(until / 1000));
      return { id, until: seconds, signature: signatureOf(newest, id, seconds).toString('base64url') };
    },
    holds({ id, until, signature }, now) {
      const given = Buffer.from(signature, 'base64url');
      let known = false;
      for (const key of derived) {
        const expected = signatureOf(key, id, until);
        if (given.length === expected.length && timingSafeEqual(given, expected)) known = true;
      }
      // One text a signature: base64url of 32 bytes has bits to spare, which must not be other addresses.
      return known && given.toString('base64url') === signature && Number(until) * 1000 > now;
    },
  };
}

function derive(secret: Uint8Array, purpose: string): KeyObject {
  const info = `gatewarden address v1\n${purpose}`;
  return createSecretKey(Buffer.from(hkdfSync('sha256', secret, new Uint8Array(0), info, KEY_BYTES)));
}

function signatureOf(key: KeyObject, id: string, until: string): Buffer {
  return createHmac('sha256', key).update(`${id}\n${until}`).digest();
}
