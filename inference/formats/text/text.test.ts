import { describe, expect, test } from 'vitest';
import type { DocumentFile } from '#/ports/documents.ts';
import type { Tools } from '../format.ts';
import { parseCsv } from './csv.ts';
import { text } from './text.ts';

const tools: Tools = {
  recognize: () => Promise.reject(new Error('not wanted')),
  checkTime: () => {},
  onPages: () => {},
};
const fileOf = (content: string | Uint8Array, mediaType: string): DocumentFile => ({
  name: 'a',
  mediaType,
  bytes: typeof content === 'string' ? Buffer.from(content) : content,
});
const unitsOf = async (content: string | Uint8Array, mediaType = 'text/plain'): Promise<readonly string[]> =>
  (await text.read(fileOf(content, mediaType), { recognize: 'never' }, tools)).units.map((unit) => unit.text);

async function anonymize(
  content: string | Uint8Array,
  mediaType: string,
  tags: Readonly<Record<string, string>>,
): Promise<Buffer> {
  const { units, layout } = await text.read(fileOf(content, mediaType), { recognize: 'auto' }, tools);
  const replacements = units.flatMap((unit) =>
    Object.entries(tags).flatMap(([original, tag]) => {
      const start = unit.text.indexOf(original);
      return start < 0 ? [] : [{ unit: unit.id, start, end: start + original.length, tag }];
    }),
  );
  return Buffer.from(
    (await text.redact(fileOf(content, mediaType), { layout, replacements, originals: Object.keys(tags) }, tools))
      .bytes,
  );
}

const TAGS = { 'Ada Lovelace': '«PERSON_1»', 'ada@example.com': '«EMAIL_1»' };

test('paragraphs are units; everything between them stays', async () => {
  const content = 'Dear Ada Lovelace,\r\nhello\r\n\r\n  \r\nada@example.com\n\n';
  expect(await unitsOf(content)).toEqual(['Dear Ada Lovelace,\r\nhello', 'ada@example.com']);
  expect((await anonymize(content, 'text/plain', TAGS)).toString()).toBe(
    'Dear «PERSON_1»,\r\nhello\r\n\r\n  \r\n«EMAIL_1»\n\n',
  );
});

test('a name over paragraphs, or written otherwise, goes too', async () => {
  const out = (await anonymize('Ada Lovelace\n\nADA\n\nLOVELACE, ada lovelace', 'text/plain', TAGS)).toString();
  expect(out).not.toMatch(/ada|lovelace/i);
});

test('UTF-16 stays, with its mark; Windows-1252 becomes UTF-8', async () => {
  const wide = await anonymize(Buffer.from('\ufeffZo\u00eb Ada Lovelace', 'utf16le'), 'text/plain', TAGS);
  expect(wide.toString('utf16le')).toBe('\ufeffZo\u00eb «PERSON_1»');
  const big = await anonymize(Buffer.from('\ufeffAda Lovelace', 'utf16le').swap16(), 'text/plain', TAGS);
  expect(big.swap16().toString('utf16le')).toBe('\ufeff«PERSON_1»');
  expect((await anonymize(Buffer.from('Zo\u00eb Ada Lovelace', 'latin1'), 'text/plain', TAGS)).toString()).toBe(
    'Zo\u00eb «PERSON_1»',
  );
  expect((await anonymize('\ufeffAda Lovelace', 'text/plain', TAGS)).toString()).toBe('\ufeff«PERSON_1»');
});

test('Markdown: entities, escapes and addresses are read as they are shown; files within are cut out', async () => {
  const content =
    '# &#65;da **Love**lace\n\n[mail](mailto:ada%40example.com) a &lt; b\n\n![x](data:image/png;base64,QWRhIExvdmVsYWNl)\n\nkept \\* &amp;';
  const out = (await anonymize(content, 'text/markdown', TAGS)).toString();
  expect(out).not.toMatch(/&#65;|lace|example|QWRh/);
  expect(out).toContain('«EMAIL_1»');
  expect(out).toContain('kept \\* &amp;');
  expect(out).toContain('a &lt; b');
});

test.each([
  ['commas', 'text/csv', 'name,mail\r\n"Ada ""A"" x",b\r\n,,\r\n'],
  ['semicolons', 'text/csv', '\ufeffname;amount\n"a;b";1,5\nx;2,5'],
  ['tabs', 'text/tab-separated-values', 'a\tb,c\n\n"d\te"\tf\n'],
  ['broken quotes', 'text/csv', 'a,"b\nc,"d"e,f"\n"'],
  ['nothing', 'text/csv', '\n'],
])('a table with %s is written as it was', (_name, mediaType, content) => {
  expect(parseCsv(content, mediaType).write()).toBe(content);
});

test('a cell is a unit, and keeps its quotes and its neighbours', async () => {
  const content = 'name;mail;note\r\n"Ada Lovelace";ada@example.com;=1+2\r\n"x;y";"say ""hi""";3\r\n';
  expect(await unitsOf(content, 'text/csv')).toEqual([
    'name',
    'mail',
    'note',
    'Ada Lovelace',
    'ada@example.com',
    '=1+2',
    'x;y',
    'say "hi"',
    '3',
  ]);
  expect((await anonymize(content, 'text/csv', TAGS)).toString()).toBe(
    'name;mail;note\r\n"«PERSON_1»";«EMAIL_1»;=1+2\r\n"x;y";"say ""hi""";3\r\n',
  );
  expect((await anonymize('Ada,Lovelace\nAda Lovelace,1\n', 'text/csv', TAGS)).toString()).not.toMatch(/ada|lovelace/i);
});

test.each([
  ['windows-1250', 'B3F3647A 577A9C6E6961 5A617AF3B3E6'],
  ['iso-8859-2', 'B3F3647A 577AB66E6961 5A617AF3B3E6'],
])('what is no UTF-8 is read as the words in it are written: %s', async (encoding, hex) => {
  const bytes = Buffer.concat(hex.split(' ').flatMap((word) => [Buffer.from(word, 'hex'), Buffer.from(' ')]));
  expect(await unitsOf(bytes)).toEqual([new TextDecoder(encoding).decode(bytes)]);
  expect(await unitsOf(bytes)).toEqual(['łódz Wzśnia Zazółć ']);
});

test('signs of the west are not taken for letters of the east', async () => {
  const western = '¿Qué? Año «œuvre» l’été 5 € – Größe';
  const bytes = Uint8Array.from(
    western,
    (sign) => ({ '€': 0x80, '’': 0x92, '–': 0x96, œ: 0x9c })[sign] ?? sign.charCodeAt(0),
  );
  expect(await unitsOf(bytes)).toEqual([western]);
});

test('Markdown is read without its marks too: a name of which one word is bold is a name', async () => {
  expect(await unitsOf('**Ada** _Lovelace_ and [her](x)', 'text/markdown')).toEqual([
    '**Ada** _Lovelace_ and [her](x)',
    'Ada Lovelace and her',
  ]);
});

test('a name that is a link of Markdown in part goes, and with it the address of that link', async () => {
  const content = 'by [Ada](https://a.example) Lovelace, see [more](https://b.example)\n\n[kept](https://c.example)';
  expect((await anonymize(content, 'text/markdown', TAGS)).toString()).toBe(
    'by «PERSON_1», see more\n\n[kept](https://c.example)',
  );
});

describe('JSON', () => {
  const content =
    '{"name":"\\u0041da \\"Love\\u006cace\\"", "n": 4711, "list":["ada@example.com",true,-1.50e+3], "x":"\\u00fc\\/"}\n';

  test('is read without its escapes, and is JSON again, in which all else is written as it was', async () => {
    expect(await unitsOf(content)).toEqual([
      '{"name":"Ada "Lovelace"", "n": 4711, "list":["ada@example.com",true,-1.50e+3], "x":"ü/"}\n',
    ]);
    const tags = { 'Ada "Lovelace"': '«PERSON_1»', 'ada@example.com': '«EMAIL_1»', '4711': '«ID_1»' };
    expect((await anonymize(content, 'text/plain', tags)).toString()).toBe(
      '{"name":"«PERSON_1»", "n": "«ID_1»", "list":["«EMAIL_1»",true,-1.50e+3], "x":"\\u00fc\\/"}\n',
    );
  });

  test('stays JSON where a name goes over several strings', async () => {
    const out = (await anonymize('["Ada Lovelace", "x", "Ada", "Lovelace"]', 'text/plain', TAGS)).toString();
    expect(JSON.parse(out)).toEqual(['«PERSON_1»', 'x', '«PERSON_1»', '']);
  });

  test('may be one a line, and what is no JSON is text', async () => {
    expect(await unitsOf('{"a":"\\u0041da"}\n\n"\\u0041"\n')).toEqual(['{"a":"Ada"}\n\n"A"\n']);
    expect(await unitsOf('{"a":"\\u0041da"\n')).toEqual(['{"a":"\\u0041da"\n']);
  });

  test('that is long has several units, which end between values', async () => {
    const long = JSON.stringify(Array.from({ length: 5000 }, (_, index) => `value ${index}`));
    const units = await unitsOf(long);
    expect(units.length).toBeGreaterThan(1);
    expect(units.join('')).toBe(long);
  });
});
