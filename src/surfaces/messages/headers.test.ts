import { expect, test } from 'vitest';
import { messagesHeaders, namesVersion } from './headers.ts';

test.each([
  [{ 'vendor-version': '2023-06-01' }, { 'anthropic-version': '2023-06-01' }],
  [{ 'anthropic-version': '2026-10-21' }, { 'anthropic-version': '2026-10-21' }],
  [
    { 'vendor-version': '2023-06-01', 'anthropic-version': '2023-06-01', accept: '*/*' },
    { 'anthropic-version': '2023-06-01', accept: '*/*' },
  ],
  [{ 'vendor-beta': 'a-1, b ,c' }, { 'anthropic-beta': 'a-1, b ,c' }],
  [{ 'x-app': 'cli' }, { 'x-app': 'cli' }],
])('%j is read as %j', (sent, read) => {
  expect(messagesHeaders(sent)).toEqual(read);
});

test.each([
  [{ 'anthropic-version': '' }, 'anthropic-version'],
  [{ 'anthropic-version': 'latest' }, 'anthropic-version'],
  [{ 'vendor-version': '2023-6-1' }, 'anthropic-version'],
  [{ 'vendor-version': '2023-06-01, 2023-06-01' }, 'anthropic-version'],
  [{ 'vendor-version': '2023-06-01', 'anthropic-version': '2023-06-02' }, 'anthropic-version'],
  [{ 'vendor-beta': 'a', 'anthropic-beta': 'b' }, 'anthropic-beta'],
])('%j is refused', (sent, param) => {
  expect(() => messagesHeaders(sent)).toThrow(expect.objectContaining({ code: 'invalid_request', param }));
});

test('either name of the version header is one', () => {
  expect([{ 'vendor-version': '' }, { 'anthropic-version': 'x' }, { 'anthropic-beta': 'x' }].map(namesVersion)).toEqual(
    [true, true, false],
  );
});
