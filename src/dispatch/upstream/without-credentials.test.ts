import { expect, test } from 'vitest';
import type { CredentialConfig } from '#/config/snapshot.ts';
import { withoutCredentials, withoutKeys } from './without-credentials.ts';

const SECRET = 'sk-proj-Zq7+x/9TrB2mN4vK8wL1cD5fG6hJ3sA0';
const credential = (secret: string): CredentialConfig => ({ name: 'k', type: 'api_key', secret, weight: 1 });
const told = (text: string, secret = SECRET): string => withoutCredentials(text, [credential(secret)]);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['whole', SECRET],
  ['its first part', SECRET.slice(0, 20)],
  ['its last part', SECRET.slice(-12)],
  ['its middle', SECRET.slice(9, 25)],
  ['in an address', encodeURIComponent(SECRET)],
  ['in base64', base64(SECRET)],
  ['in base64 after a name', base64(`user:${SECRET}`)],
  ['in base64 after a shorter name', base64(`me:${SECRET}`)],
  ['in base64 for addresses', Buffer.from(`user:${SECRET}`).toString('base64url')],
])('a credential is not told: %s', (_how, form) => {
  const text = told(`Incorrect API key provided: ${form}. Try another.`);
  expect(text).toMatch(/^Incorrect API key provided: .*\[credential\].*\. Try another\.$/);
  for (let at = 0; at + 12 <= form.length; at++) expect(text).not.toContain(form.slice(at, at + 12));
});

test('parts of credentials that vendors show are kept, and every other word', () => {
  const text = `Incorrect API key provided: sk-pr***${SECRET.slice(-4)}. You can find your API key at https://example.com.`;
  expect(told(text)).toBe(text);
  expect(told('', SECRET)).toBe('');
});

test('the parts of a credential that is an object are removed, and so are tokens fetched for it', () => {
  const account = JSON.stringify({ token_uri: 'https://oauth2.example.com/token', private_key: `-----\n${SECRET}\n` });
  expect(told(`bad key ${SECRET} for https://oauth2.example.com/token`, account)).toBe(
    'bad key [credential] for https://oauth2.example.com/token',
  );
  expect(told('sent authorization: Bearer eyJhbGciOi.J9-x_yz.abc')).toBe('sent authorization: Bearer [credential]');
});

test('a short credential is not told as a whole', () => {
  expect(told('the key hunter22 is wrong', 'hunter22')).toBe('the key [credential] is wrong');
  expect(told('the key a is wrong', 'a')).toBe('the key a is wrong');
});

test('a key that is no longer configured is removed if it looks like one', () => {
  expect(withoutKeys(`Incorrect API key provided: ${SECRET}.`)).toBe('Incorrect API key provided: [credential]');
  expect(withoutKeys('AIzaSyA-1234567 and gsk_abcdefg, please')).toBe('[credential] and [credential], please');
  const starred = 'Incorrect API key provided: sk-proj-***abcd. Ask for a key-value store.';
  expect(withoutKeys(starred)).toBe(starred);
});
