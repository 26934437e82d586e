import { describe, expect, test } from 'vitest';
import { LargeWork } from './large-work.ts';

const ADA = { organization: 'acme', workload: 'ada' };
const BOB = { organization: 'acme', workload: 'bob' };
const EVE = { organization: 'other', workload: 'eve' };
const MIB = 1024 * 1024;
const WHOLE = 'x'.repeat(8 * MIB);
const HALF = WHOLE.slice(4 * MIB);
const open = new AbortController().signal;
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Enters, and writes down when it was let in. */
function entering(work: LargeWork, begun: string[]) {
  return async (name: string, asker: typeof ADA, text: string, signal = open): Promise<Disposable> => {
    const place = await work.enter(asker, text, signal);
    begun.push(name);
    return place;
  };
}

describe('large calls of one organization', () => {
  test('are begun as far as they fit, and other organizations do not wait for them', async () => {
    const begun: string[] = [];
    const enter = entering(new LargeWork(), begun);
    const first = enter('first', ADA, HALF);
    const second = enter('second', ADA, HALF);
    const third = enter('third', ADA, 'x');
    const other = enter('other', EVE, WHOLE);
    await settled();
    expect(begun).toEqual(['first', 'second', 'other']);
    (await second)[Symbol.dispose]();
    (await second)[Symbol.dispose]();
    await third;
    void enter('fourth', ADA, HALF);
    await settled();
    expect(begun).toEqual(['first', 'second', 'other', 'third']);
    (await first)[Symbol.dispose]();
    await settled();
    expect(begun.at(-1)).toBe('fourth');
    await other;
  });

  test('count by their values, too', async () => {
    const begun: string[] = [];
    const enter = entering(new LargeWork(), begun);
    const values = '0,'.repeat(240_000);
    const first = enter('first', ADA, values);
    void enter('second', ADA, values);
    await settled();
    expect(begun).toEqual(['first']);
    (await first)[Symbol.dispose]();
    await settled();
    expect(begun).toEqual(['first', 'second']);
  });

  test('are begun in the order of their workloads, the largest of all among them', async () => {
    const begun: string[] = [];
    const enter = entering(new LargeWork(), begun);
    const first = await enter('first', ADA, HALF);
    const done = Promise.all(
      [
        enter('largest', ADA, WHOLE + WHOLE),
        enter('ada', ADA, WHOLE),
        enter('bob', BOB, WHOLE),
        enter('bob again', BOB, WHOLE),
      ].map(async (place) => (await place)[Symbol.dispose]()),
    );
    await settled();
    expect(begun).toEqual(['first']);
    first[Symbol.dispose]();
    await done;
    expect(begun).toEqual(['first', 'largest', 'bob', 'ada', 'bob again']);
  });

  test('do not wait for one whose client left', async () => {
    const begun: string[] = [];
    const enter = entering(new LargeWork(), begun);
    await enter('first', ADA, HALF);
    const leaving = new AbortController();
    const left = enter('left', ADA, WHOLE, leaving.signal);
    const next = enter('next', ADA, 'x');
    await settled();
    expect(begun).toEqual(['first']);
    leaving.abort(new Error('the client left'));
    await expect(left).rejects.toThrow('the client left');
    await next;
    expect(begun).toEqual(['first', 'next']);
    await expect(enter('gone', ADA, 'x', leaving.signal)).rejects.toThrow('the client left');
  });
});
