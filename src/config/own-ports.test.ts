import { expect, test } from 'vitest';
import { isThisMachine } from './own-ports.ts';

test.each([
  ...['127.0.0.1', '127.9.9.9', '[::1]', '::1', '[::]', '0.0.0.0', '[::ffff:7f00:1]', '::ffff:127.0.0.1', 'localhost'],
  ...['LOCALHOST.', 'a.localhost'],
])('%s is this machine', (host) => {
  expect(isThisMachine(host)).toBe(true);
});

test.each(['10.0.0.1', '[fd00::1]', 'tools.example', 'localhost.example', 'notlocalhost'])('%s is another', (host) => {
  expect(isThisMachine(host)).toBe(false);
});
