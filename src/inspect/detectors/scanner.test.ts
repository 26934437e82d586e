import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { marked } from '../../../test/harness/marked-text.ts';
import type { Match } from '../match.ts';
import type { DetectorRule } from './detector.ts';
import { createDetectors } from './list.ts';
import { ranksOf, resolveOverlaps } from './overlaps.ts';
import { createScanner, scannerOf } from './scanner.ts';

const detection = createScanner();
const expectFinds = (source: string): void => {
  const { text, spans } = marked(source);
  expect(detection.find(text)).toEqual(spans);
};
describe('sentences people write', () => {
  test.each([
    // English
    'Hi, I am locked out. My e-mail is ‹EMAIL:ada.lovelace@example.co.uk› and you can reach me on ‹PHONE:07700 900123› after 5 pm.',
    'Please refund £1,015.41 to ‹IBAN:GB82 WEST 1234 5698 7654 32›, order #3455641 from 18/11/2024.',
    'The card ‹CREDIT_CARD:4111 1111 1111 1111› (exp. 12/26) was declined twice at 12:30:45; terminal ‹IP_ADDRESS:93.184.216.34› logged error 5021.',
    'Ship 14 pallets on 3 May 2024, invoice 2024-00817, total $12,450.00, net 30.',
    'Our office: ‹PHONE:(202) 555-0143›, fax ‹PHONE:202-555-0144›.',
    'Chapter 3.2.1 says that version 10.0.19041 needs 8 GB; see RFC 5321 and ISO 9001:2015.',
    // German
    'Guten Tag, bitte überweisen Sie 1.250,00 € auf ‹IBAN:DE89 3704 0044 0532 0130 00› bis zum 31.12.2024. Rückfragen: ‹PHONE:030 901820›.',
    'Sie erreichen mich mobil unter ‹PHONE:0171/3920012› oder per Mail an ‹EMAIL:jürgen.groß@example.de›; Kundennummer 612345678.',
    'Bestellnummer 4711-0815, Rechnung Nr. 2024/00123 vom 01.02.2024, Artikel 0301-234567.',
    'Öffnungszeiten: Mo–Fr 08.00–12.00 und 14.00–18.00 Uhr, Sa 09.00–13.00 Uhr.',
    // French
    'Bonjour, mon numéro est le ‹PHONE:06 12 34 56 78›, mon adresse ‹EMAIL:zoé.dupont@example.fr›. Dossier n° 2024-118-A.',
    'Virement de 1 250,00 € sur le compte ‹IBAN:FR14 2004 1010 0505 0001 3M02 606› le 01/02/2024 à 14 h 30.',
    'Le siège est au ‹ADDRESS:12 rue de la Paix, 75002 Paris›, SIREN ‹TAX_ID:732 829 320›.',
    // Spanish
    'Llámame al ‹PHONE:612 34 56 78› o escribe a ‹EMAIL:begoña@example.es›; el pedido 8320169267 llegó el 12-05-2024.',
    'La tarjeta ‹CREDIT_CARD:5555 5555 5555 4444› fue rechazada; cobren de ‹IBAN:ES91 2100 0418 4502 0005 1332›.',
    // Italian
    'Il mio telefono è ‹PHONE:02 1234 5678›, il cellulare ‹PHONE:335 1234567›; la fattura 15090244303 scade il 30/06/2024.',
    "L'IBAN è ‹IBAN:IT60 X054 2811 1010 0000 0123 456›, intestato a Rossi; importo 1.234,56 €.",
    // Dutch
    'Bel me op ‹PHONE:06-12345678› of mail ‹EMAIL:joris@example.nl›. Mijn rekening is ‹IBAN:NL91 ABNA 0417 1643 00›.',
    'Bestelling 20240512-0093 kwam op 12-05-2024 om 14.30 uur, 3 stuks à € 12,50.',
    // Polish
    'Mój telefon to ‹PHONE:601 234 567›, konto ‹IBAN:PL61 1090 1014 0000 0712 1981 2874›, faktura FV/2024/05/0012.',
    'Proszę pisać na ‹EMAIL:łukasz@example.pl›; zamówienie 601234567 z 12.05.2024 kosztowało 1 234 567,00 zł.',
    // Portuguese
    'O meu telemóvel é ‹PHONE:912 345 678›, o e-mail ‹EMAIL:joão@example.pt›; encomenda 912345678 de 12/05/2024.',
    'Transferir 250,00 € para ‹IBAN:PT50 0002 0123 1234 5678 9015 4›, por favor.',
  ])('%s', expectFinds);
});
describe('text of machines', () => {
  test.each([
    '2024-05-01T12:30:45.123Z INFO [auth] login ok user=‹USERNAME:ada› ip=‹IP_ADDRESS:4.245.102.253› session=9ef61c99-9630-42a7-9af7-0b6a8301a34d 200 12ms',
    '‹IP_ADDRESS:93.184.216.34› - - [10/Oct/2024:13:55:36 +0200] "GET /a/b?id=1234567890 HTTP/1.1" 200 2326 "-" "Mozilla/5.0 (X11) Chrome/120.0.0.0"',
    '{"id":1234567890123,"email":"‹EMAIL:ada@example.com›","phone":"‹PHONE:+4930901820›","iban":"‹IBAN:DE89370400440532013000›","ok":true}',
    '{"arguments":"{\\"to\\":\\"‹EMAIL:ada@example.com›\\",\\"text\\":\\"Hi\\\\n‹PHONE:+49 30 901820›\\"}"}',
    "INSERT INTO users VALUES (17, 'Ada', '‹EMAIL:ada@example.com›', '1980-11-24', '‹IBAN:DE89370400440532013000›');",
    'name;mail;phone\nAda;‹EMAIL:ada@example.com›;‹PHONE:030 901820›\nBob;‹EMAIL:bob@example.com›;‹PHONE:+49 171 3920012›\n',
    '| Ada | ‹EMAIL:ada@example.com› | ‹CREDIT_CARD:5473596321389920› |',
    'DATABASE_URL=postgres://app:‹SECRET:Dragon!1›@db.internal:5432/app\nREDIS_URL=redis://cache:6379/0\nPORT=8080',
    'From: Ada <‹EMAIL:ada@example.com›>\nTo: support@localhost\nDate: Wed, 01 May 2024 12:30:45 +0200\nMessage-ID: <0102018f@mail>\n',
    'git clone git@github.com:org/repo.git && git checkout 3854edd3aae7ed5e15ff034d16017fbce66869b7 && npm i lodash@4.17.21 @types/node@24.0.1',
    'const x: Map<string, number> = new Map(); for (let i = 0; i < 1000000; i++) x.set(`k${i}`, i * 0.001); // TODO: v1.2.3.4',
    'std::unique_ptr<ns::Foo> p = std::make_unique<ns::Foo>(0x1234abcd, 3.14159265358979, 6.02e23);',
    'sha256:3854edd3aae7ed5e15ff034d16017fbce66869b7bb71fcb447fc135c396aff26 sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709 crc 1234567890',
    '"dependencies":{"fastify":"5.12.8","pg":"^8.23.1","typebox":"~1.4.3"},"integrity":"sha512-N8DhBXmK+eHa6spkFOVE+aaPYTOIBL5tbzDaMlDEAXBKrAvp+C4NGkx7mS8bMbvuNWJ8Rry5ync/xLdzIuJZIk=="',
    'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66 550e8400-e29b-41d4-a716-446655440000 00000000-0000-0000-0000-000000000000',
    'x = [0.1234567890, 12.5e-10, 3.0000000001]; y = range(1000000000, 2000000000); assert 4503599627370496 == 2 ** 52',
    'MAC 00:1a:2b:3c:4d:5e, lat 52.520008, lon 13.404954, EAN 4006381333931, ISBN 978-3-16-148410-0, WVWZZZ1JZXW000001',
    '#!/bin/sh\nset -eu\nfor f in *.txt; do echo "$f: $(wc -l < "$f")"; done 2>&1 | tee -a /var/log/x-2024-05-01.log',
    '<a href="https://example.com/a/1234567890?x=1&y=2#top" class="col-12 col-md-6">10:30</a><img src="icon@2x.png" width="1024">',
    'def f(q, k):\n    return q@k.transpose(-2, -1) / 8.0  # [b, 12, 1024, 1024]\n@app.route("/")\n@pytest.mark.slow',
  ])('%s', expectFinds);
});
describe('finds that overlap', () => {
  test.each([
    ['IBAN before phone', 'Tel. und Konto: ‹IBAN:DE89 3704 0044 0532 0130 00›'],
    ['card before phone', 'call about card ‹CREDIT_CARD:4111 1111 1111 1111›'],
    ['the token before what it holds', 'api_key = "‹SECRET:xK29ada4111111111111111bQ7›"'],
    ['a password that is an address', 'password: ‹SECRET:ada1@mail.org›'],
    ['an address with a phone number in it', '‹EMAIL:01713920012@example.com›'],
  ])('%s', (_, source) => expectFinds(source));
});
describe('categories', () => {
  const text = 'ada@example.com, +49 30 901820, DE89370400440532013000, 93.184.216.34';

  test('only those asked for are looked for', () => {
    const found = (wanted?: ReadonlySet<string>): string[] =>
      detection.find(text, wanted).map(({ category }) => category);
    expect(found()).toEqual(['EMAIL', 'PHONE', 'IBAN', 'IP_ADDRESS']);
    expect(found(new Set(['PHONE', 'EMAIL']))).toEqual(['EMAIL', 'PHONE']);
    expect(found(new Set(['IBAN', 'PERSON']))).toEqual(['IBAN']);
    expect(found(new Set(['PERSON', 'email']))).toEqual([]);
    expect(found(new Set())).toEqual([]);
  });

  test('a set that grows is seen', () => {
    const wanted = new Set(['EMAIL']);
    expect(detection.find(text, wanted)).toHaveLength(1);
    wanted.add('IBAN');
    expect(detection.find(text, wanted)).toHaveLength(2);
  });
});
/** An example without its marks. */
function unmarked(example: string): string {
  return example.replaceAll(/[‹›]/g, '');
}
/** Texts made of pieces that detectors care about, whole and broken, in any order. */
const pieces = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'ada@example.com',
      '+49 30 901820',
      '030 901820',
      'DE89 3704 0044 0532 0130 00',
      'de89370400440532013000',
      '4111 1111 1111 1111',
      '4111111111111111',
      '93.184.216.34',
      '2a00:1450:4001:81b::200e',
      'password: hunter22',
      'postgres://u:p4ss@h.example.com',
      'token=',
      'sk-aB3dE5gH7jK9mN1pQ3sT5',
      'AKIA234567ABCDEFGHIJ',
      'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl',
      '-----BEGIN PRIVATE KEY-----',
      '54362315K',
      'ATU13585627',
      '86 095 742 719',
      'BSN 111222333',
      'PESEL 44051401359',
      'tax_id',
      'born ',
      '17 June 1980',
      'Reisepass C01X00T47',
      'Kennzeichen K-XG 89',
      'AB-123-CD',
      'VIN WVWZZZ1JZXW000001',
      '1M8GDM9AXKP042788',
      '539-0075470-34',
      'konto 61109010140000071219812874',
      '20041 01005 0500013M026 06',
      'Hauptstraße 5, 10115 Berlin',
      '12 rue de la Paix',
      '221 Baker Street',
      'user=ada1',
      'sort code 12-34-56',
      'VALUES (',
      'P<',
      'Tel.',
      'Bearer ',
      'with password hbFdodD8A6',
      'version 1.2.3.4',
      '12.05.2024',
      'x-api-key: 9f8e7d6c5b4a39281706f5e4d3c2b1a0',
      'card',
      '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
      '::1',
      'std::',
      'a@b',
      '@',
      '+',
      '0',
      '00',
      '.',
      ':',
      '=',
      '-',
      '_',
      '/',
      '(',
      ')',
      '"',
      "'",
      '\\n',
      '%20',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...createDetectors().flatMap(({ examples, ignores }) => [...examples, ...ignores].map(unmarked)),
    ),
  },
  { weight: 4, arbitrary: fc.constantFrom(' ', ' ', ', ', '\n', '', ';', '\u0000') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '\u200b',
      '\u00ad',
      '９',
      '٣',
      '𝟒',
      '😀',
      '谢谢',
      'ü',
      '\ud800',
      '\udc00',
      '\u00a0',
      '–',
      '«EMAIL_1»',
      '＠',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
);
const texts = fc.array(pieces, { maxLength: 24 }).map((parts) => parts.join(''));
/** What a detector finds, before overlaps are resolved; in the folded text where a text is folded. */
function matchesBeforeOverlaps(detector: DetectorRule): (text: string) => readonly Match[] {
  return (text) => {
    let found: Match[] = [];
    let searched = text;
    const spy: DetectorRule = {
      ...detector,
      detect: (folded, at, floor, all) => {
        // A pass that meets something to fold begins again.
        if (folded !== searched) [searched, found] = [folded, []];
        const next = detector.detect(folded, at, floor, found);
        all.push(...found.slice(all.length));
        return next;
      },
    };
    scannerOf([spy]).find(text);
    return found;
  };
}
describe('whatever the text', () => {
  const detectors = createDetectors();
  const scanners = detectors.map((detector) => scannerOf([detector]));
  const ranks = ranksOf(detectors);

  test('one pass finds what the detectors find one by one', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const apart = scanners.flatMap((scanner) => [...scanner.find(text)]);
        expect(detection.find(text)).toEqual(resolveOverlaps(apart, ranks));
      }),
      { numRuns: 3000 },
    );
  });

  test('no detector overlaps itself, and each finds only its category', () => {
    const sweeps = detectors.map((detector) => [detector.category, matchesBeforeOverlaps(detector)] as const);
    fc.assert(
      fc.property(texts, (text) => {
        for (const [category, sweep] of sweeps) {
          let end = 0;
          const wrong = sweep(text).filter((match) => {
            const isWrong = match.start < end || match.end <= match.start || match.category !== category;
            end = match.end;
            return isWrong || end > text.length;
          });
          expect(wrong, category).toEqual([]);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('the same text gives the same finds again, and spans never cut a surrogate pair', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const finds = detection.find(text);
        expect(detection.find(text)).toEqual(finds);
        for (const { start, end } of finds)
          expect([cutsPair(text, start), cutsPair(text, end)]).toEqual([false, false]);
      }),
    );
  });

  test('blanks and line breaks around it change nothing but the offsets', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(' ', '\n', '\n\n   '), (text, pad) => {
        const moved = detection
          .find(`${pad}${text}${pad}`)
          .map(({ start, end, category }) => ({ start: start - pad.length, end: end - pad.length, category }));
        expect(moved).toEqual(detection.find(text));
      }),
    );
  });

  test('invisible characters inside a find do not hide it', () => {
    const finds = ['ada@example.com', '+4930901820', 'DE89370400440532013000', '4111111111111111', '93.184.216.34'];
    const invisible = fc.constantFrom(
      '\u200b',
      '\u200d',
      '\u00ad',
      '\ufeff',
      '\u2060',
      '\ufe0f',
      '\u202e',
      '\u{e0061}',
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...finds),
        fc.array(fc.tuple(fc.nat(), invisible), { minLength: 1, maxLength: 4 }),
        (find, noise) => {
          let hidden = find;
          for (const [at, character] of noise) {
            const place = 1 + (at % (hidden.length - 1));
            if (!cutsPair(hidden, place)) hidden = hidden.slice(0, place) + character + hidden.slice(place);
          }
          expect(detection.find(`(${hidden})`)).toMatchObject([{ start: 1, end: 1 + hidden.length }]);
        },
      ),
    );
  });
});
function cutsPair(text: string, at: number): boolean {
  return /[\ud800-\udbff]/.test(text[at - 1] ?? '') && /[\udc00-\udfff]/.test(text[at] ?? '');
}
