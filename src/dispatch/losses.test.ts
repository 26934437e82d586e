import { expect, test } from 'vitest';
import { tellableLosses } from './losses.ts';

test.each([
  'thinking',
  'document.as_images',
  'input[].content[].annotations',
  'tools[web_search_20250305]',
  'reasoning.summary',
  'messages[].prediction',
])('the name %s is reported unchanged', (name) => {
  expect(tellableLosses([name])).toEqual([name]);
});

test.each([
  ['input[].ada@example.com', 'input[].(other)'],
  ['content[\u0000get_time]', 'content.(other)'],
  ['tools[My name is Ada Lovelace]', 'tools.(other)'],
  ['metadata.4111111111111111', 'metadata.(other)'],
  ['metadata.x4111111111111111', 'metadata.(other)'],
  ['Ada Lovelace', '(other)'],
  [`metadata.${'x'.repeat(5_000)}`, 'metadata.(other)'],
])('text of the caller in the name %j stays out of the row', (name, told) => {
  expect(tellableLosses([name])).toEqual([told]);
});

test('a request with a million unknown fields leaves a short row', () => {
  const losses = Array.from({ length: 1_000 }, (_, index) => `metadata.field_${index}`);
  const told = tellableLosses(losses);
  expect(told).toHaveLength(65);
  expect(told.at(-1)).toBe('and 936 more');
});
