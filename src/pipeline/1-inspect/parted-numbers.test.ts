import { expect, test } from 'vitest';
import { createReadDetection } from './read-detection.ts';

const detection = createReadDetection();

// The letters before the number are the code of a country with accounts, and what follows is as long as one.
test.each([
  'What is4111111111111111 the capital of France?',
  'the capit4111111111111111al of France',
  'call ge4111111111111111t_time now and then',
  'the capital of -1Fran4111111111111111ce?',
  'the 2nd4111111111111111 and so on',
])('a card number in a word is found whatever follows: %s', (text) => {
  const [found, ...more] = detection.find(text);
  expect([found && text.slice(found.start, found.end), found?.category, more]).toEqual([
    '4111111111111111',
    'CREDIT_CARD',
    [],
  ]);
});

test('an account number that touches a word is found whole', () => {
  const text = 'accountDE89370400440532013000 is closed';
  const [found] = detection.find(text);
  expect(found && text.slice(found.start, found.end)).toBe('DE89370400440532013000');
});
