import { createDecodedScanner } from '#/inspect/decoding/decoded-scanner.ts';

/**
 * How long detection takes, in microseconds a text (best of many): prose, prose with a usual mix of finds, and hostile runs, at three
 * lengths. The last column tells growth from 20 to 200 KiB: 10 is linear. `node test/bench/detect.ts`.
 */
const KIB = 1024;
const PROSE =
  'We look at the numbers of the third quarter and decide together what the next step should be. Sales grew, costs ' +
  'did not: the team in Lyon has closed 14 of 20 open issues since May, and the rest is planned for version 2. ';
const MIX =
  'Write to ada.lovelace@example.com or call +49 30 901820 about order 4711-22. Pay to DE89 3704 0044 0532 0130 00 by ' +
  '12.05.2025; the server 93.184.216.34 answered at 12:30:45. ';

const texts: readonly (readonly [string, (length: number) => string])[] = [
  ['plain prose', (length) => fill(PROSE, length)],
  [
    'prose in German',
    (length) => fill('Die Größe der Übermengen prüfen wir für Österreich, sagte „Frau Müller“ kürzlich. ', length),
  ],
  ['four finds in 2 KiB', (length) => fill(`${MIX}${fill(PROSE, 2 * KIB - MIX.length)}`, length)],
  ['typical mix', (length) => fill(`${MIX}${fill(PROSE, 400)}`, length)],
  [
    'JSON',
    (length) =>
      fill('{"id":"3f2504e0-4f89-11d3-9a0c-0305e82c3301","count":12,"price":4.5,"tags":["a","b"],"ok":true},', length),
  ],
  [
    'source code',
    (length) =>
      fill('const total = items.map((item) => item.price * 100).reduce((a, b) => a + b, 0); // std::sum\n', length),
  ],
  ['base64', (length) => fill('TWFuIGlzIGRpc3Rpbmd1aXNoZWQsIG5vdCBvbmx5IGJ5IGhpcyByZWFzb24sIGJ1dCBieSB0aGlz', length)],
  ['folded', (length) => fill(`${PROSE}\u00a0`, length)],
  ...[
    'a',
    '1',
    '@',
    '+',
    '0 0 0 ',
    ':',
    '=',
    '-',
    '_',
    '.',
    'a@',
    'a@b.',
    '::1 ',
    '1.',
    '4 ',
    '41 ',
    '0049 ',
    '+49 ',
    'DE89 ',
    'sk-',
    '-sk-',
    'eyJ',
    '-eyJ',
    '-eyJa.',
    'token=',
    'password:',
    'Bearer ',
    'AKIA',
    '-----BEGIN PRIVATE KEY-----',
    'x://a:',
    'tel 0301234 ',
    '030 123 4567 ',
    'password ',
    '\u200b',
    '1\u200b',
    '٠',
    '«a',
  ].map((unit): readonly [string, (length: number) => string] => [
    JSON.stringify(unit),
    (length) => fill(unit, length),
  ]),
];

function fill(unit: string, length: number): string {
  // A flat string, as a JSON parser makes them.
  return JSON.parse(JSON.stringify(unit.repeat(Math.ceil(length / unit.length)).slice(0, length))) as string;
}

const detection = createDecodedScanner();

/** Microseconds of the fastest of many searches, after warming up: other load on the machine only ever adds. */
function measure(text: string): number {
  const enough = process.hrtime.bigint() + 100_000_000n;
  do detection.find(text);
  while (process.hrtime.bigint() < enough);
  let best = Infinity;
  const end = process.hrtime.bigint() + 200_000_000n;
  do {
    const start = process.hrtime.bigint();
    detection.find(text);
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000);
  } while (process.hrtime.bigint() < end);
  return best;
}

for (const [name, write] of texts) {
  const [small, middle, large] = [2, 20, 200].map((size) => measure(write(size * KIB))) as [number, number, number];
  const finds = detection.find(write(2 * KIB)).length;
  const columns = [small, middle, large].map((time) => time.toFixed(1).padStart(10)).join('');
  console.log(
    `${name.padEnd(32)}${columns} µs${(large / middle).toFixed(1).padStart(8)}x ${String(finds).padStart(5)} finds in 2 KiB`,
  );
}
