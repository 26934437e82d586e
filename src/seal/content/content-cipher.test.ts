import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createContentCipher, type ContentPlace } from './content-cipher.ts';
import type { MasterKey } from '#/config/master-keys.ts';

const key = (id: string): MasterKey => ({ id, secret: randomBytes(32) });
const [first, second] = [key('first'), key('second')];
const cipher = createContentCipher([first]);
const place: ContentPlace = { organization: 'team/acme', purpose: 'answer', name: 'n' };
const content = Buffer.from('what was said');

describe('what was encrypted', () => {
  test.each([0, 1, 100_000])('opens again: %i bytes', (length) => {
    const bytes = randomBytes(length);
    expect(cipher.decrypt(place, cipher.encrypt(place, bytes))).toEqual(bytes);
  });

  test('never looks the same, nor like what it holds', () => {
    const [once, again] = [cipher.encrypt(place, content), cipher.encrypt(place, content)];
    expect(once).not.toEqual(again);
    expect(once.includes(content)).toBe(false);
  });

  test.each<Partial<ContentPlace>>([
    { organization: 'team/rival' },
    { purpose: 'content' },
    { name: 'm' },
    { name: '' },
  ])('opens nowhere else: %j', (other) => {
    expect(cipher.decrypt({ ...place, ...other }, cipher.encrypt(place, content))).toBeUndefined();
  });

  test('does not open when any byte of it was changed, or cut off', () => {
    const encrypted = cipher.encrypt(place, content);
    for (let at = 0; at < encrypted.length; at++) {
      const changed = Buffer.from(encrypted);
      changed[at]! ^= 1;
      expect(cipher.decrypt(place, changed), `byte ${at}`).toBeUndefined();
      expect(cipher.decrypt(place, encrypted.subarray(0, at)), `${at} bytes`).toBeUndefined();
    }
  });

  test('opens after a rotation, and no more once its key is gone', () => {
    const encrypted = cipher.encrypt(place, content);
    const rotated = createContentCipher([second, first]);
    expect(rotated.decrypt(place, encrypted)).toEqual(content);
    expect(cipher.decrypt(place, rotated.encrypt(place, content))).toBeUndefined();
    expect(createContentCipher([second]).decrypt(place, rotated.encrypt(place, content))).toEqual(content);
    expect(createContentCipher([second]).decrypt(place, encrypted)).toBeUndefined();
  });

  test('does not open with another key of the same id', () => {
    expect(createContentCipher([key('first')]).decrypt(place, cipher.encrypt(place, content))).toBeUndefined();
  });
});

describe('names', () => {
  test('are the same for the same text, of one organization, key by key', () => {
    const rotated = createContentCipher([second, first]);
    expect(cipher.names('o', 'text')).toEqual(cipher.names('o', 'text'));
    expect(rotated.names('o', 'text')[1]).toBe(cipher.names('o', 'text')[0]);
    const all = [
      ...rotated.names('o', 'text'),
      ...cipher.names('p', 'text'),
      ...cipher.names('o', 'text '),
      ...createContentCipher([key('first')]).names('o', 'text'),
    ];
    expect(new Set(all).size).toBe(5);
    for (const name of all) expect(name).toMatch(/^[\w-]{43}$/);
  });
});

test.each([
  [[]],
  [[{ id: 'short', secret: randomBytes(31) }]],
  [[{ id: '', secret: randomBytes(32) }]],
  [[{ id: 'x'.repeat(33), secret: randomBytes(32) }]],
  [[first, first]],
])('no cipher of %j', (keys: MasterKey[]) => {
  expect(() => createContentCipher(keys)).toThrow(RangeError);
});
