import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSealedBox, type MasterKey, type Place } from './content-cipher.ts';

const key = (id: string): MasterKey => ({ id, secret: randomBytes(32) });
const [first, second] = [key('first'), key('second')];
const box = createSealedBox([first]);
const place: Place = { organization: 'team/acme', purpose: 'answer', name: 'n' };
const content = Buffer.from('what was said');

describe('what was sealed', () => {
  test.each([0, 1, 100_000])('opens again: %i bytes', (length) => {
    const bytes = randomBytes(length);
    expect(box.open(place, box.seal(place, bytes))).toEqual(bytes);
  });

  test('never looks the same, nor like what it holds', () => {
    const [once, again] = [box.seal(place, content), box.seal(place, content)];
    expect(once).not.toEqual(again);
    expect(once.includes(content)).toBe(false);
  });

  test.each<Partial<Place>>([{ organization: 'team/rival' }, { purpose: 'content' }, { name: 'm' }, { name: '' }])(
    'opens nowhere else: %j',
    (other) => {
      expect(box.open({ ...place, ...other }, box.seal(place, content))).toBeUndefined();
    },
  );

  test('does not open when any byte of it was changed, or cut off', () => {
    const sealed = box.seal(place, content);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(box.open(place, changed), `byte ${at}`).toBeUndefined();
      expect(box.open(place, sealed.subarray(0, at)), `${at} bytes`).toBeUndefined();
    }
  });

  test('opens after a rotation, and no more once its key is gone', () => {
    const sealed = box.seal(place, content);
    const rotated = createSealedBox([second, first]);
    expect(rotated.open(place, sealed)).toEqual(content);
    expect(box.open(place, rotated.seal(place, content))).toBeUndefined();
    expect(createSealedBox([second]).open(place, rotated.seal(place, content))).toEqual(content);
    expect(createSealedBox([second]).open(place, sealed)).toBeUndefined();
  });

  test('does not open with another key of the same id', () => {
    expect(createSealedBox([key('first')]).open(place, box.seal(place, content))).toBeUndefined();
  });
});

describe('names', () => {
  test('are the same for the same text, of one organization, key by key', () => {
    const rotated = createSealedBox([second, first]);
    expect(box.names('o', 'text')).toEqual(box.names('o', 'text'));
    expect(rotated.names('o', 'text')[1]).toBe(box.names('o', 'text')[0]);
    const all = [
      ...rotated.names('o', 'text'),
      ...box.names('p', 'text'),
      ...box.names('o', 'text '),
      ...createSealedBox([key('first')]).names('o', 'text'),
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
])('no box of %j', (keys: MasterKey[]) => {
  expect(() => createSealedBox(keys)).toThrow(RangeError);
});
