import { describe, expect, test } from 'vitest';
import { BodyRoom, type BodyPlace } from './body-room.ts';

const MIB = 1024 * 1024;
const ADA = { key: 'ada', organization: 'acme' };
const BOB = { key: 'bob', organization: 'acme' };
const EVE = { key: 'eve', organization: 'other' };
const MAX = { key: 'max', organization: 'third' };

/** Takes MiB by MiB until it is refused; how many there were, and what it was refused with. */
function fill(place: BodyPlace): { readonly mib: number; readonly refused: unknown } {
  for (let mib = 0; ; mib++) {
    try {
      place.take(MIB, 1);
    } catch (refused) {
      return { mib, refused };
    }
  }
}

describe('memory for bodies', () => {
  test('is shared: a quarter for a key, a half for an organization', () => {
    const room = new BodyRoom(400 * MIB, MIB);
    using ada = room.enter(ADA);
    expect(fill(ada)).toMatchObject({ mib: 100, refused: { code: 'request_too_large', status: 413 } });
    using again = room.enter(ADA);
    expect(fill(again)).toMatchObject({ mib: 0, refused: { code: 'rate_limit_exceeded', status: 429 } });
    expect(fill(again)).toMatchObject({ mib: 0, refused: { retryAfterMs: 2000, shouldRetry: true } });
    using bob = room.enter(BOB);
    expect(fill(bob).mib).toBe(100);
    using carl = room.enter({ ...BOB, key: 'carl' });
    expect(fill(carl)).toMatchObject({ mib: 0, refused: { code: 'rate_limit_exceeded' } });
    using eve = room.enter(EVE);
    expect(fill(eve).mib).toBe(100);
    using max = room.enter(MAX);
    expect(fill(max).mib).toBe(100);
    using none = room.enter({ key: 'none', organization: 'fourth' });
    expect(fill(none)).toMatchObject({
      mib: 0,
      refused: { code: 'upstream_overloaded', status: 503, shouldRetry: true },
    });
  });

  test('is given back whole, once, and nothing is taken after that', () => {
    const room = new BodyRoom(400 * MIB, MIB);
    const place = room.enter(ADA);
    fill(place);
    expect(room.taken).toBe(100 * MIB);
    place[Symbol.dispose]();
    place[Symbol.dispose]();
    place.take(MIB, 1);
    expect(room.taken).toBe(0);
    using next = room.enter(ADA);
    expect(fill(next).mib).toBe(100);
  });

  test('of a key is enough for the largest body, and no body is larger than all of it', () => {
    const small = new BodyRoom(160 * MIB, 64 * MIB);
    expect(small.largest).toBe(20 * MIB);
    using place = small.enter(ADA);
    place.take(small.largest);
    expect(new BodyRoom(1024 * MIB, 64 * MIB).largest).toBe(64 * MIB);
  });

  test('is looked at before a body that was announced is read', () => {
    const room = new BodyRoom(160 * MIB, 20 * MIB);
    using first = room.enter(ADA);
    first.take(10 * MIB);
    using second = room.enter(EVE);
    expect(() => second.expect(11 * MIB)).toThrow(expect.objectContaining({ code: 'upstream_overloaded' }) as Error);
    second.expect(10 * MIB);
    expect(room.taken).toBe(80 * MIB);
  });
});
