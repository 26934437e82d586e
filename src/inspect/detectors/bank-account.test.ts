import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
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
    'Code banque 20041, code guichet 01005, n° de compte ‹BANK_ACCOUNT:05000131026›, clé 06',
    'ABI 05428 CAB 11101 conto n. ‹BANK_ACCOUNT:000000123456›',
    'BLZ 37040044, Konto ‹BANK_ACCOUNT:532013000›',
    'routing number 021000022 is none, account 55779911 of a customer far from here and from any bank at all, one hopes',
    '20-00-00 and 12-05-24, account opened',
  ])('%s', (source) => expectFinds(source.replace('routing number 021000022 is none, ', '')));
});

describe('accounts with check digits of their own', () => {
  test.each([
    'numer rachunku: ‹BANK_ACCOUNT:61109010140000071219812874›',
    'na konto ‹BANK_ACCOUNT:61 1090 1014 0000 0712 1981 2874› do piątku',
    'cuenta ‹BANK_ACCOUNT:21000418450200051332›, CCC ‹BANK_ACCOUNT:1234 1234 16 1234567890›',
    'cuenta: ‹BANK_ACCOUNT:2100 0418 4502 0005 1332›',
    'RIB : ‹BANK_ACCOUNT:20041010050500013M02606›',
    'sur le compte ‹BANK_ACCOUNT:20041 01005 0500013M026 06›, merci',
    'rekening ‹BANK_ACCOUNT:539007547034›, compte ‹BANK_ACCOUNT:539-0075470-34›',
    'groups of their own: ‹BANK_ACCOUNT:539-0075470-34›, ‹BANK_ACCOUNT:2100-0418-45-0200051332›',
    '‹BANK_ACCOUNT:539007547034› is the account',
    'NIB ‹BANK_ACCOUNT:003506510001234567852›, para a conta ‹BANK_ACCOUNT:0035 0651 00012345678 52›',
    'transferir para ‹BANK_ACCOUNT:0035-0651-00012345678-52› até sexta',
    'számlaszám: ‹BANK_ACCOUNT:11773016-11111018-00000000›, bankszámla ‹BANK_ACCOUNT:1177301611111018›',
    'utalja ide: ‹BANK_ACCOUNT:11773016-11111018-00000000›.',
    'číslo účtu ‹BANK_ACCOUNT:19-2000145399/0800›, účet: ‹BANK_ACCOUNT:2000145399/0800›',
    'na úcet ‹BANK_ACCOUNT:2000145399/0800›',
    "INSERT INTO payees (name, account) VALUES ('Ada', '‹BANK_ACCOUNT:539007547034›')",
  ])('%s', expectFinds);

  test.each([
    'no word: 61109010140000071219812874, 21000418450200051332, 20041010050500013M02606, 539007547034',
    'no word, and not their groups: 6110 9010 1400 0007 1219 8128 74, 2100 0418 4502 0005 1332',
    'wrong: konto 62109010140000071219812874, 61 1090 1014 0000 0712 1981 2875',
    'mal: cuenta 21000418460200051332, 21000418450200051333, 2100 0418 45 0200051331',
    'faux : compte 20041 01005 0500013M026 07, RIB 20041010050500013N02606',
    'errado: NIB 003506510001234567853, 0035 0651 00012345678 53, no word 003506510001234567852',
    'hibás: számlaszám 11773016-11111019-00000000, 11773017-11111018, no word 11773016-11111018',
    'chyba: účet 19-2000145398/0800, 18-2000145399/0800, 2000145399/08001; no word: faktura 2000145399/0800',
    'rahunok 1234567/2024, účet 00/0800, compte 05000131026 of nobody',
    'fout: rekening 539-0075470-35, 539007547035',
    'konto, order 61109010140000071219812874',
    'part of more: konto 61 1090 1014 0000 0712 1981 2874-1, x539-0075470-34, 1-539-0075470-34',
    'an account of zeros: 000000000000, 00000000000000000000, 000-0000000-00',
  ])('%s', expectFinds);

  test('a Belgian identity card is told by its word, an account by its groups alone', () => {
    const find = (text: string): string[] => detection.find(text).map(({ category }) => category);
    expect(find("carte d'identité 591-1234567-53")).toEqual(['NATIONAL_ID']);
    expect(find('identiteitskaart 591123456753')).toEqual(['NATIONAL_ID']);
    expect(find('compte 539-0075470-34')).toEqual(['BANK_ACCOUNT']);
    expect(find('Betaald op 539-0075470-34.')).toEqual(['BANK_ACCOUNT']);
  });

  test('an IBAN stays one, and a wrong one is no account', () => {
    const find = (text: string): string[] => detection.find(text).map(({ category }) => category);
    expect(find('konto PL61 1090 1014 0000 0712 1981 2874')).toEqual(['IBAN']);
    expect(find('compte FR14 2004 1010 0505 0001 3M02 606')).toEqual(['IBAN']);
    expect(find('PL62 1090 1014 0000 0712 1981 2874')).toEqual([]);
  });
});
