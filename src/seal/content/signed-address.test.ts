import { expect, test } from 'vitest';
import { createAddressSigner } from './signed-address.ts';

const key = (id: string, fill: number): { readonly id: string; readonly secret: Uint8Array } => ({
  id,
  secret: Buffer.alloc(32, fill),
});
const [older, newer] = [key('a', 1), key('b', 2)];

test('an address holds until its second, with every gateway that knows the key', () => {
  const address = createAddressSigner([older], 'job result').sign('some-id', 90_999);
  expect(address).toMatchObject({ id: 'some-id', until: '90' });
  const signer = createAddressSigner([newer, older], 'job result');
  expect([89_999, 90_000].map((now) => signer.holds(address, now))).toEqual([true, false]);
  expect(signer.sign('some-id', 90_999).signature).not.toBe(address.signature);
});

test('an address holds for nothing else, and with no other key', () => {
  const signer = createAddressSigner([older], 'job result');
  const address = signer.sign('id', 90_000);
  expect(signer.holds({ ...address, id: 'id2' }, 0)).toBe(false);
  expect(signer.holds({ ...address, id: 'id\n90' }, 0)).toBe(false);
  for (const until of ['91', '090', ' 90', '90.0', '9e1']) expect(signer.holds({ ...address, until }, 0)).toBe(false);
  for (const signature of ['', '=', 'A'.repeat(43), `${address.signature}A`, `${address.signature}=`])
    expect(signer.holds({ ...address, signature }, 0)).toBe(false);
  // The last of 43 characters says two bits more than the 32 bytes have.
  const last = address.signature.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const twin = `${address.signature.slice(0, -1)}${alphabet[alphabet.indexOf(last) + 1] ?? ''}`;
  expect(Buffer.from(twin, 'base64url')).toEqual(Buffer.from(address.signature, 'base64url'));
  expect(signer.holds({ ...address, signature: twin }, 0)).toBe(false);
  expect(createAddressSigner([older], 'something else').holds(address, 0)).toBe(false);
  expect(createAddressSigner([newer], 'job result').holds(address, 0)).toBe(false);
});
