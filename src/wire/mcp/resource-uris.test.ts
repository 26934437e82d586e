import { expect, test } from 'vitest';
import { uriFault } from './resource-uris.ts';

test.each([
  ...['file:///pub/../secret', 'file:///pub/..;/secret', 'file:///pub/..;x=1/secret', 'file:///pub/.;/x'],
  ...['file:///pub/%2e%2e/x', 'file:///pub/%2e%2e;x/x', 'file:///pub/%25%32e%25%32e/x', 'file:///pub/..%3b/x'],
  ...['file:///pub/%25252e%25252e/x', 'file:///pub%2f..%2fx', 'file:///pub%5c..%5cx', 'file:///pub/..%00/x'],
  ...['file:///pub/..%20/x', 'file:///pub/．．/x', 'file:///pub/‥/x', 'file:///pub/%EF%BC%8E%EF%BC%8E/x'],
  ...['file:///pub／..／x', 'file:///pub/%c0%ae%c0%ae/x', 'file:///pub/a%0ab', 'memo:..', 'memo://a?path=../b'],
  ...['memo://a?b=1&c=..', 'memo://a/..', 'memo://a/..#b', 'memo://a/..?b'],
])('an address that leads elsewhere than it says is refused: %s', (uri) => {
  for (const of of ['resource', 'template'] as const) expect(uriFault(uri, of)).toMatch(/^must not have the steps/);
});

test.each([
  ...['file:///pub/a..b', 'file:///pub/...', 'file:///.hidden', 'memo://a;b/c', 'file:///50%25', 'memo://a?b=1.2&c=.x'],
  ...['file:///%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB.txt', 'file:///a%2Fb', 'note:été', 'file:///%zz', 'memo://a%ff'],
])('an address without such steps is taken: %s', (uri) => {
  expect(uriFault(uri, 'resource')).toBeUndefined();
});

test('only a template may begin without a scheme', () => {
  expect(uriFault('{+x}', 'template')).toBeUndefined();
  expect(uriFault('{+x}', 'resource')).toBe('must begin with a scheme');
  expect(uriFault('{+x}/../a', 'template')).toMatch(/^must not have the steps/);
});
