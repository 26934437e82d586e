import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['LICENSE_PLATE']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('vehicle plates', () => {
  test.each([
    'mit dem Kennzeichen ‹LICENSE_PLATE:K-XG 89› gesehen, Kfz-Kennzeichen: ‹LICENSE_PLATE:WI-OG 8822›, MÜ-AB 12',
    'Kennzeichen ‹LICENSE_PLATE:MÜ-AB 12E›.',
    'immatriculé ‹LICENSE_PLATE:WB-757-HE›; sans mot: ‹LICENSE_PLATE:AL-864-QY›',
    'number plate ‹LICENSE_PLATE:AB12 CDE› and license plate: ‹LICENSE_PLATE:7ABC123›',
    'matrícula ‹LICENSE_PLATE:1234 BCD›, targa ‹LICENSE_PLATE:AB 123 CD›',
    'kenteken ‹LICENSE_PLATE:AB-123-C›, numer rejestracyjny ‹LICENSE_PLATE:WA 12345›',
    'matrícula ‹LICENSE_PLATE:AA-12-BB›',
    'Kontrollschild ‹LICENSE_PLATE:ZH 123 456›, Kontrollschild: ‹LICENSE_PLATE:BE-98765›',
    "plaque d'immatriculation ‹LICENSE_PLATE:VD 654321›, targa ‹LICENSE_PLATE:TI 12345›",
  ])('%s', expectFinds);

  test.each([
    'USB-C 20, ISO-AB 12, COVID-19, A-B 12, B 12, K-XG 89',
    'the plate was hot at 12 noon; registration closes 3 May',
    'x-AL-864-QY, AL-864-QY-1, AL-864-QYZ, AO-864-QY',
  ])('%s', expectFinds);
});
