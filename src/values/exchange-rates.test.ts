import { expect, test } from 'vitest';
import { rateAt, readExchangeRates } from './exchange-rates.ts';

test.each(['', '0', '0.000', '-1', '1e3', '.5', '1.', ' 1', '0x1', 'NaN', '1,5'])('%j is not a rate', (text) => {
  expect(readExchangeRates(text)).toBeUndefined();
});

test.each([
  '0.92,2026-12-01=0',
  '0.92,2026-02-30=0.9',
  '0.92,2026-12-01',
  '0.92,2026-12-01=0.9=0.8',
  '0.92,2027-01-01=0.9,2026-12-01=0.8',
  '0.92,2027-01-01=0.9,2027-01-01=0.8',
  '2026-12-01=0.92',
  '0.92,',
])('%j are not rates with dates in order', (text) => {
  expect(readExchangeRates(text)).toBeUndefined();
});

test('a rate holds from midnight UTC of its date until the next', () => {
  const rates = readExchangeRates('0.92,2026-12-01=0.91,2027-01-01=0.9')!;
  const december = Date.UTC(2026, 11, 1);
  const january = Date.UTC(2027, 0, 1);
  expect(rateAt(rates, 0)).toEqual({ rate: '0.92', from: -Infinity, until: december });
  expect(rateAt(rates, december - 1).rate).toBe('0.92');
  expect(rateAt(rates, december)).toEqual({ rate: '0.91', from: december, until: january });
  expect(rateAt(rates, january)).toEqual({ rate: '0.9', from: january, until: Infinity });
});
