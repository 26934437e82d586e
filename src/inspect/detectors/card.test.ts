import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['CREDIT_CARD']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('finds', () => {
  test.each([
    // The issuers' published test numbers.
    '‹CREDIT_CARD:4111111111111111›',
    '‹CREDIT_CARD:4012888888881881›',
    '‹CREDIT_CARD:5555555555554444›',
    '‹CREDIT_CARD:2223003122003222›',
    '‹CREDIT_CARD:378282246310005›',
    '‹CREDIT_CARD:371449635398431›',
    '‹CREDIT_CARD:6011111111111117›',
    '‹CREDIT_CARD:3530111333300000›',
    '‹CREDIT_CARD:30569309025904›',
    '‹CREDIT_CARD:38520000023237›',
    '‹CREDIT_CARD:6304000000000000›',
    '‹CREDIT_CARD:6759649826438453›',
    '‹CREDIT_CARD:6200000000000005›',
    '‹CREDIT_CARD:2200000000000004›',
    // Groupings
    '‹CREDIT_CARD:4111 1111 1111 1111›',
    '‹CREDIT_CARD:4111-1111-1111-1111›',
    '‹CREDIT_CARD:4111.1111.1111.1111›',
    '‹CREDIT_CARD:3782 822463 10005›',
    '‹CREDIT_CARD:3056 930902 5904›',
    '‹CREDIT_CARD:4111\u00a01111\u20091111\u202f1111›',
    '‹CREDIT_CARD:4111–1111–1111–1111›',
    'card no. ‹CREDIT_CARD:41111 11111 111111›',
    'Karte: ‹CREDIT_CARD:4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1›',
    // What follows and what stands before
    'Visa ‹CREDIT_CARD:4111 1111 1111 1111› 12/26 123',
    '‹CREDIT_CARD:4111 1111 1111 1111› 1226 CVV 123',
    'Karte:‹CREDIT_CARD:4111111111111111›.',
    '"pan":"‹CREDIT_CARD:4111111111111111›","cvc":"123"',
    'card_‹CREDIT_CARD:4111111111111111›',
    'Visa-‹CREDIT_CARD:4111-1111-1111-1111›',
    'AMEX ‹CREDIT_CARD:378282246310005›',
    'note\\n‹CREDIT_CARD:4111111111111111›\\n',
    '卡号‹CREDIT_CARD:4111111111111111›谢谢',
    '12 ‹CREDIT_CARD:4111 1111 1111 1111›',
    'paid in 2024 ‹CREDIT_CARD:4111111111111111›, size 1024x1024 ‹CREDIT_CARD:378282246310005›',
    // Short numbers with a word about cards
    'Maestro ‹CREDIT_CARD:501800000009›',
    'carte bancaire ‹CREDIT_CARD:4222222222222›',
    'expense it to cc ‹CREDIT_CARD:4222222222222›',
    // Ranges of old
    'JCB card ‹CREDIT_CARD:213112345678904›',
    'Karte: ‹CREDIT_CARD:180012345678905›',
    'my card is ‹CREDIT_CARD:3500000000000009›',
    // Hiding
    '‹CREDIT_CARD:4111\u200b1111\u200b1111\u200b1111›',
    '‹CREDIT_CARD:4\u00ad111111111111111›',
    '‹CREDIT_CARD:４１１１１１１１１１１１１１１１›',
    '‹CREDIT_CARD:٤١١١ ١١١١ ١١١١ ١١١١›',
    '‹CREDIT_CARD:𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏›',
  ])('%s', expectFinds);
});

describe('finds none in', () => {
  test.each([
    '4111111111111112',
    '4111 1111 1111 1112',
    '4444444444444444 0000000000000000 5555555555555555',
    '14111111111111111',
    '41111111111111111',
    '411111111111111',
    'a4111111111111111',
    '4111111111111111a',
    '0.4111111111111111',
    '4111111111111111.50',
    '4111111111111111,50',
    '1700000000000 1700000000000000', // milliseconds and microseconds since 1970
    '9780306406157', // ISBN
    '4006381333931', // EAN-13 of a pen, no word about cards
    '501800000009',
    '213112345678904',
    '3500000000000009',
    '4222222222222',
    '7502-4395-5272-9331-1681',
    '7502 4111 1111 1111 1111',
    'DE12 4111111111111111',
    'IBAN GB43 HCZO 5877 7202 0793 76',
    'DE12 4111 1111 1111 1111',
    '5018 8590 6336 4058',
    '41111 11111 111111',
    'S0365-66912007000200009-1',
    '00000000-0000-4111-8111-411111111111',
    '4111  1111  1111  1111',
    '4111\t1111\t1111\t1111',
    'sha256:4111111111111111aa4111111111111111',
  ])('%s', expectFinds);
});
