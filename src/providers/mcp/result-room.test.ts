import { expect, test } from 'vitest';
import { NoRoomForResults } from '#/ports/mcp-servers.ts';
import { ResultRoom } from './result-room.ts';

test('answers to one namespace leave half of the room to the others, whichever servers give them', () => {
  const room = new ResultRoom(100);
  const first = room.enter('acme/crm');
  const second = room.enter('acme/files');
  first.add(30);
  second.add(20);
  expect(() => second.add(1)).toThrow(NoRoomForResults);
  expect(second.bytes).toBe(20);
  const other = room.enter('rival/crm');
  other.add(50);
  expect(() => room.enter('third/crm').add(1)).toThrow(NoRoomForResults);
});

test('an answer that ends gives back what it took, once', () => {
  const room = new ResultRoom(100);
  const first = room.enter('acme/crm');
  first.add(50);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  const again = room.enter('acme/crm');
  again.add(50);
  expect(() => again.add(1)).toThrow(NoRoomForResults);
});
