import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';

const detection = createScanner();
const only = new Set(['LICENSE_PLATE']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('vehicle identification numbers', () => {
  test.each([
    'VIN: ‹LICENSE_PLATE:WVWZZZ1JZXW000001›',
    'Fahrgestellnummer ‹LICENSE_PLATE:WVWZZZ1JZXW000001›, Fahrzeug-Identifizierungsnummer (FIN): ‹LICENSE_PLATE:WBA3A5G59DN123456›',
    'numéro de série ‹LICENSE_PLATE:VF1BM0A0H12345678›; le châssis ‹LICENSE_PLATE:VF1BM0A0H12345678›',
    'número de bastidor ‹LICENSE_PLATE:VSSZZZ6JZ9R123456›',
    'numero di telaio ‹LICENSE_PLATE:ZFA31200000123456›',
    'chassisnummer ‹LICENSE_PLATE:XLRTE47MS0E123456›',
    'numer nadwozia ‹LICENSE_PLATE:SUFTW12345N123456›, numer VIN to ‹LICENSE_PLATE:SUFTW12345N123456›',
    'número de chassis ‹LICENSE_PLATE:TW1ZZZ6JZ9R123456›',
    '‹LICENSE_PLATE:WVWZZZ1JZXW000001› is its VIN',
    'vin=‹LICENSE_PLATE:wvwzzz1jzxw000001›',
    '{"vehicle_vin":"‹LICENSE_PLATE:WVWZZZ1JZXW000001›","note":"VIN\\n‹LICENSE_PLATE:WVWZZZ1JZXW000001›"}',
    "INSERT INTO cars (name, vin) VALUES ('Golf', '‹LICENSE_PLATE:WVWZZZ1JZXW000001›')",
    'check digits tell North American ones: ‹LICENSE_PLATE:1M8GDM9AXKP042788›, ‹LICENSE_PLATE:1HGCM82633A004352›',
    'a trailer that ends in four digits has a VIN too: ‹LICENSE_PLATE:1A9AAAAAXAAAA1234›',
  ])('%s', (source) => expectFinds(source));

  test.each([
    'no word: WVWZZZ1JZXW000001',
    'too far from what is said of a VIN and of all that an owner may look for: WVWZZZ1JZXW000001',
    'VIN asked for, order WVWZZZ1JZXW000001',
    'wrong check digit: VIN 1M8GDM9A1KP042788, 1M8GDM9AXKP042789, 5GZCZ43D23S812715',
    'VIN WVWZZZ1JZXW00000 and WVWZZZ1JZXW0000012 have another length',
    'VIN WVWZZZ1JZXO000001, IVWZZZ1JZXW000001, WVWZZZ1JZXW00000A',
    'VIN 11111111111111111',
    'VIN x-WVWZZZ1JZXW000001, WVWZZZ1JZXW000001-2, /WVWZZZ1JZXW000001/, a_1M8GDM9AXKP042788',
    'lower case needs a word: 1m8gdm9axkp042788',
  ])('%s', expectFinds);
});
