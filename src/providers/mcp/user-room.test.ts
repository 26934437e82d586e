import { expect, test } from 'vitest';
import { UserRoom } from './user-room.ts';

test('a namespace with many users loses its own, and no other namespace loses one', () => {
  const room = new UserRoom<{ readonly name: string }>(10, 60_000);
  const user = (server: string, name: string) => room.of(server, name, () => ({ name }));
  const calm = ['a', 'b', 'c', 'd', 'e'].map((name) => user('calm/crm', name));
  const first = user('loud/crm', 'u0');
  for (let at = 1; at < 1000; at++) {
    user('loud/other', `u${at}`);
    // The place in use stays.
    expect(user('loud/crm', 'u0')).toBe(first);
  }
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => user('calm/crm', name))).toEqual(calm);
  expect(user('calm/crm', 'a')).toBe(calm[0]);
  const recent = user('loud/other', 'u999');
  user('loud/other', 'u1000');
  expect(user('loud/other', 'u999')).toBe(recent);
});

test('the longest unused of all is forgotten when every place is taken', () => {
  const room = new UserRoom<object>(4, 60_000);
  const old = room.of('a/x', 'u', () => ({}));
  for (const server of ['b/x', 'c/x', 'd/x', 'e/x']) room.of(server, 'u', () => ({}));
  expect(room.of('a/x', 'u', () => ({}))).not.toBe(old);
  // The place of `b/x` was taken for it.
  const made = {};
  expect(room.of('b/x', 'u', () => made)).toBe(made);
});
