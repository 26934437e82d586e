import examples from 'libphonenumber-js/mobile/examples';
import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import { createScanner } from './scanner.ts';
import { createPhonePlan, DEFAULT_PHONE_REGIONS } from './phone-plan.ts';

const detection = createScanner();
const only = new Set(['PHONE']);
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text, only)).toEqual(spans);
};

describe('international forms anywhere', () => {
  test.each([
    '‹PHONE:+49 30 901820›',
    '‹PHONE:+4930901820›',
    '‹PHONE:+49 (0)30 901820›',
    '‹PHONE:+49 (0) 171 3920012›',
    '‹PHONE:+49 (30) 901820-12›',
    '‹PHONE:(+49) 30 901820›',
    '‹PHONE:+(49) 30 901820›',
    '‹PHONE:+ 49 30 901820›',
    '‹PHONE:+49-171-3920012›',
    '‹PHONE:+49/171/3920012›',
    '‹PHONE:+33 1 23 45 67 89›',
    '‹PHONE:+33.1.23.45.67.89›',
    '‹PHONE:+44 7700 900123›',
    '‹PHONE:+44 (0)20 7946 0958›',
    '‹PHONE:+1 202-555-0143›',
    '‹PHONE:+1 (202) 555-0143›',
    '‹PHONE:+12025550143›',
    '‹PHONE:+34 612 34 56 78›',
    '‹PHONE:+39 02 1234 5678›',
    '‹PHONE:+48 601 234 567›',
    '‹PHONE:+351 912 345 678›',
    '‹PHONE:+31 6 12345678›',
    '‹PHONE:+43 1 5880000›',
    '‹PHONE:+41 44 668 18 00›',
    '‹PHONE:+32 470 12 34 56›',
    '‹PHONE:+353 85 012 3456›',
    '‹PHONE:+420 601 123 456›',
    '‹PHONE:+376 312 345›',
    '‹PHONE:+81 3-1234-5678›',
    '‹PHONE:+86 138 0013 8000›',
    '‹PHONE:+91 98765 43210›',
    '‹PHONE:+45 32 12 34 56›',
    'x (‹PHONE:+49 30 901820›).',
    '(‹PHONE:0049 30 901820›)',
    'tel:‹PHONE:+4930901820›',
    '"‹PHONE:+4930901820›"',
    'n\\n‹PHONE:+4930901820›\\n',
    '‹PHONE:+49 30 901820›, ‹PHONE:+49 30 901821›',
    '‹PHONE:+49 30 901820› / ‹PHONE:+49 171 3920012›',
    '‹PHONE:+49 30 901820›\n‹PHONE:+49 30 901821›',
    '电话‹PHONE:+8613800138000›谢谢',
    '‹PHONE:+1 202-555-0143›x12',
    '‹PHONE:0049 30 901820›',
    '‹PHONE:004930901820›',
    '‹PHONE:00 49 30 901820›',
    '‹PHONE:0033 1 23 45 67 89›',
    'call ‹PHONE:0012025550143›',
    '‹PHONE:001 202 555 0143›',
    '‹PHONE:+49\u00a030\u00a0901820›',
    '‹PHONE:+49 30 90\u200b1820›',
    '‹PHONE:＋49 30 ９０１８２０›',
    '‹PHONE:+٤٩ ٣٠ ٩٠١٨٢٠›',
    '‹PHONE:+49–30–901820›',
  ])('%s', expectFinds);
});

describe('national forms with the grouping of phone numbers', () => {
  test.each([
    '‹PHONE:030 901820›',
    '‹PHONE:030/901820›',
    '‹PHONE:030-1933668›',
    '‹PHONE:(030) 901820›',
    '‹PHONE:(030)901820›',
    '‹PHONE:0171 39 200 12›',
    '‹PHONE:0171/3920012›',
    '‹PHONE:0171 / 392001›',
    '‹PHONE:089 1234-567›',
    '‹PHONE:01 23 45 67 89›',
    '‹PHONE:06.12.34.56.78›',
    '‹PHONE:06-12-34-56-78›',
    '‹PHONE:020 7946 0958›',
    '‹PHONE:07700 900123›',
    '‹PHONE:(01632) 960175›',
    '‹PHONE:06 12345678›',
    '‹PHONE:0470 12 34 56›',
    '‹PHONE:044 668 18 00›',
    '‹PHONE:085 012 3456›',
    '‹PHONE:02 1234 5678›',
    '‹PHONE:612 34 56 78›',
    '‹PHONE:91 123 45 67›',
    '‹PHONE:22 123 45 67›',
    '‹PHONE:202-555-0143›',
    '‹PHONE:(202) 555-0143›',
    '‹PHONE:(202)555-0143›',
    '‹PHONE:202.555.0143›',
    '‹PHONE:1-202-555-0143›',
    '(‹PHONE:030 901820›)',
    'a;‹PHONE:030 901820›;b',
    '{"p":"‹PHONE:030 901820›"}',
    '- ‹PHONE:030 901820›',
    'Berlin, ‹PHONE:030 901820›.',
    'x\\n‹PHONE:030 901820›',
  ])('%s', expectFinds);
});

describe('national forms after a word about phones', () => {
  test.each([
    'Phone: ‹PHONE:2025550143›',
    'my number is ‹PHONE:02079460958›',
    'call me on ‹PHONE:07700900123›',
    'Mobile ‹PHONE:07700900123›',
    'Tel. ‹PHONE:030901820›',
    'Tel.: ‹PHONE:030901820›',
    'Tel.‹PHONE:030901820›',
    'Telefonnummer lautet ‹PHONE:01713920012›',
    'Handy: ‹PHONE:01713920012›',
    'Rufnummer ‹PHONE:01713920012›',
    'erreichbar unter ‹PHONE:01713920012›',
    'Fax ‹PHONE:030901821›',
    'Tél : ‹PHONE:0123456789›',
    'mon portable, ‹PHONE:0612345678›',
    'joindre au ‹PHONE:0612345678›',
    'teléfono ‹PHONE:612345678›',
    'móvil: ‹PHONE:612345678›',
    'llámame al ‹PHONE:612 345 678›',
    'telefono ‹PHONE:0212345678›',
    'cellulare ‹PHONE:3351234567›',
    'cell. ‹PHONE:335 1234567›',
    'telefono ‹PHONE:336/3387531›',
    'telefoon ‹PHONE:0201234567›',
    'bel me op ‹PHONE:0612345678›',
    'mobiel ‹PHONE:06-12345678›',
    'telefon ‹PHONE:601234567›',
    'komórka ‹PHONE:601 234 567›',
    'zadzwoń: ‹PHONE:601234567›',
    'telemóvel ‹PHONE:912345678›',
    'telefone ‹PHONE:912 345 678›',
    'ligue para ‹PHONE:213987235›',
    '"phone":"‹PHONE:07700900123›"',
    'phone_number=‹PHONE:07700900123›',
    'customerPhone: ‹PHONE:07700900123›',
    'mobile_no ‹PHONE:07700900123›',
    'Telefon:\n‹PHONE:030901820›',
    'Tel. ‹PHONE:+ 4930901820›',
    'Tel ‹PHONE:030901820› oder ‹PHONE:01713920012›',
    'Tel. ‹PHONE:0 1 7 1 3 9 2 0 0 1 2›',
    'order 4711, phone ‹PHONE:02079460958›',
    'téléphone portable ‹PHONE:06 12 34 56 78› merci',
  ])('%s', expectFinds);
});

describe('finds none in', () => {
  test.each([
    // Dates, times, amounts, decimals
    '01.02.2024',
    '01-02-2024',
    '01/02/2024',
    '01 02 2024',
    '2024-01-15',
    '2024.01.15 12',
    '12.05.2024 14:30',
    'Tel. seit 01.02.2024',
    '07:30 - 18:45',
    '08.00-12.00 14.00-18.00',
    'Mo-Fr 08.00-12.00',
    '09.00 - 17.00',
    '1 234 567 890',
    '601 234 567',
    '1.234.567,89',
    '0.1234567890',
    '00.1234567',
    '01.23456789',
    'EUR 012 345 678 €',
    '012 345 678 EUR',
    '030 901 820 %',
    // References, ids, hashes, codes
    '02079460958',
    '612345678',
    '2025550143',
    '1234567890',
    'order 030 901820',
    'Bestellnummer 030 901820',
    'Rechnung Nr. 0171 3920012',
    'invoice 020 7946 0958',
    'ORD-0173-170227',
    'PO0207 946095',
    'ISBN 978-3-9522-4096-6',
    'ISBN 0-306-40615-2',
    'ISBN 0306-40615-2',
    '#030 901820',
    'RE-030-901820',
    '030-901820-ABC',
    'a030 901820',
    '030 901820a',
    '/030/901820',
    'x_030 901820',
    '078-05-1120',
    '010672-3777',
    '030830/0839',
    '5018 8523 3904 5233',
    'DE88 3704 0044 0532 0130 00',
    'ES28 7027 4879 0064 0504 2104',
    '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    '00000000-0000-0000-0000-000000000000',
    'build 020.7946.0958',
    'v0.10.2.1234',
    '1.2.3.4',
    '0012025550143',
    '"order":"0098268342"',
    '000000000000',
    '00123456789012345',
    '0x0304050607',
    // Signs that are no prefix
    '+0200',
    'UTC+02:00',
    '+1',
    '+20,000 users',
    '+1234567',
    '+999 123 456 789',
    '1+4930901820',
    'a+4930901820',
    '++4930901820',
    'e+4930901820',
    '3 + 4',
    '+49',
    // A word about phones, and a number about something else
    'phone order 612345678',
    'Telefonrechnung, Kundennummer 612345678',
    'Tel. 110. Kaufte 612345678 Stück',
    'Passport 612345678',
    'iPhone 612345678',
    'Stringent 612345678',
    '192.168.100.200',
    'call 10.20.30.40',
    'mobile since 2019, 3 of 4',
    'phone formats\n\n1.7.1 / 01.12.2018',
    'phone\n\n612345678',
    'cachedAt + 31536000000',
    'NºCol: 08-08-25574',
  ])('%s', expectFinds);
});

test('the word belongs to the number before the end of the sentence', () => {
  expectFinds('teléfono ‹PHONE:91 714 78 47›.\n\nCompramos 612345678 unidades');
  expectFinds('"phone":"‹PHONE:+48604177161›"},"total":"612345678"');
});

test('right behind a word about phones, a number in groups is of any country', () => {
  expectFinds('Telefon: ‹PHONE:72 128 827›');
  expectFinds('Please call me on ‹PHONE:9472 7916› after six');
  expectFinds('mobile no. ‹PHONE:699 956 915›, e-mail below');
  expectFinds('phone: 2024-05-06');
  expectFinds('call me at 10.30 - 11.45 or later');
  expectFinds('phones sold: 12 500, 13 700 and 14 200 in 2019');
});

describe('regions', () => {
  test('only those configured are looked for in national form', () => {
    const german = createScanner({ phoneRegions: ['DE'] });
    const none = createScanner({ phoneRegions: [] });
    const danish = createScanner({ phoneRegions: ['DK'] });
    for (const [text, inGerman, inDanish] of [
      ['Tel. 030901820', 1, 0],
      ['Telefon 32 12 34 56', 0, 1],
      ['phone 2025550143', 0, 0],
      ['+1 202-555-0143', 1, 1],
    ] as const) {
      expect(german.find(text, only)).toHaveLength(inGerman);
      expect(danish.find(text, only)).toHaveLength(inDanish);
      expect(none.find(text, only)).toHaveLength(text.startsWith('+') ? 1 : 0);
    }
  });

  test('an unknown one is refused', () => {
    expect(() => createScanner({ phoneRegions: ['DE', 'XX'] })).toThrow(RangeError);
    expect(() => createScanner({ phoneRegions: ['constructor'] })).toThrow(RangeError);
  });
});

describe("the library's own example numbers", () => {
  const plan = createPhonePlan(DEFAULT_PHONE_REGIONS);
  const all = Object.entries(examples as Record<string, string>);

  test('there is one for each region', () => {
    expect(all.length).toBeGreaterThan(200);
  });

  test.each(DEFAULT_PHONE_REGIONS)('of %s are held in national form', (region) => {
    const example = (examples as Record<string, string>)[region] as string;
    expect([example, `0${example}`].filter((digits) => plan.isNational(digits))).not.toEqual([]);
  });
});
