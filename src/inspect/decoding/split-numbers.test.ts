import { expect, test } from 'vitest';
import { createDecodedScanner } from './decoded-scanner.ts';

const detection = createDecodedScanner();

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

test.each([
  ['accountDE89370400440532013000 is closed', 'DE89370400440532013000'],
  ['France? DE89370400440532013000f France?', 'DE89370400440532013000'],
  ['to GB29NWBK60161331926819ed it went', 'GB29NWBK60161331926819'],
  ['WQat is+49 30 901820-17 ', '+49 30 901820-17'],
  ['call+44-20-7946-0958 now', '+44-20-7946-0958'],
])('a number that touches a word is found whole: %s', (text, number) => {
  const [found, ...more] = detection.find(text);
  expect([found && text.slice(found.start, found.end), more]).toEqual([number, []]);
});

test.each(['sha1 DE89370400440532013001f0', 'n+12 34 is 7654321', 'x+1 2345678 y'])(
  '%s has no number of somebody',
  (text) => expect(detection.find(text)).toEqual([]),
);
