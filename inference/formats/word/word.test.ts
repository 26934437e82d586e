import {
  CommentRangeEnd, CommentRangeStart, CommentReference, DeletedTextRun, Document, ExternalHyperlink, Footer, FootnoteReferenceRun,
  Header, ImageRun, InsertedTextRun, Packer, Paragraph, Table, TableCell, TableRow, TextRun,
} from 'docx';
import { strToU8, zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument, TextUnit } from '#ports/documents.ts';
import { officeFile, partsOf, stringsOf, type TestPart } from '../../../test/harness/office.ts';
import { picture, writtenPage } from '../../../test/harness/pictures.ts';
import type { Tools } from '../format.ts';
import { word } from './word.ts';

const tools: Tools = { recognize: () => Promise.reject(new Error('not wanted')), checkTime: () => {} };
const MEDIA_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"';
const MAIN = 'wordprocessingml.document.main+xml';

const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a.docx', mediaType: MEDIA_TYPE, bytes });
const textsOf = (units: readonly TextUnit[], visibility?: string): readonly string[] =>
  units.filter((unit) => !visibility || unit.visibility === visibility).map(({ text }) => text);
const read = async (bytes: Uint8Array): Promise<readonly TextUnit[]> =>
  (await word.read(fileOf(bytes), { recognize: 'never' }, tools)).units;
const faultOf = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error as { kind?: string }).kind ?? error,
  );

/** Replaces each original wherever it stands in a unit. */
async function anonymize(bytes: Uint8Array, tags: Readonly<Record<string, string>>): Promise<RedactedDocument> {
  const { units, layout } = await word.read(fileOf(bytes), { recognize: 'auto' }, tools);
  const replacements = units.flatMap(({ id, text }) =>
    Object.entries(tags).flatMap(([original, tag]) =>
      [...text.matchAll(new RegExp(original, 'g'))].map(({ index }) => ({
        unit: id, start: index, end: index + original.length, tag,
      })),
    ),
  );
  expect(replacements.length).toBeGreaterThan(0);
  return word.redact(fileOf(bytes), { layout, replacements, originals: Object.keys(tags) }, tools);
}

const body = (xml: string): string => `<?xml version="1.0"?><w:document ${W}><w:body>${xml}</w:body></w:document>`;
const p = (...runs: readonly string[]): string => `<w:p>${runs.map((run) => `<w:r><w:t>${run}</w:t></w:r>`).join('')}</w:p>`;
const simple = (xml: string, relations: TestPart['relations'] = {}, more: Readonly<Record<string, TestPart>> = {}): Uint8Array =>
  officeFile({ 'word/document.xml': { type: MAIN, content: body(xml), relations }, ...more });

const TAGS = { 'Ada Lovelace': '«PERSON_1»', 'ada@example.com': '«EMAIL_1»', 'Grace Hopper': '«PERSON_2»' };
const tracesIn = (bytes: Uint8Array): readonly string[] => stringsOf(bytes).match(/\bada\b|lovelace|grace|hopper/gi) ?? [];

describe('a document as a word processor writes it', () => {
  const build = async (): Promise<Uint8Array> => {
    const photo = await picture(writtenPage(['ADA LOVELACE'])).withExif({ IFD0: { Artist: 'Grace Hopper' } }).jpeg().toBuffer();
    const document = new Document({
      title: 'About Ada Lovelace', creator: 'Grace Hopper', lastModifiedBy: 'Ada Lovelace', keywords: 'ada@example.com',
      customProperties: [{ name: 'Owner', value: 'Ada Lovelace' }],
      comments: { children: [{ id: 0, author: 'Grace Hopper', initials: 'GH', date: new Date(0), children: [new Paragraph('Ask Ada Lovelace')] }] },
      footnotes: { 1: { children: [new Paragraph('See Grace Hopper')] } },
      sections: [{
        headers: { default: new Header({ children: [new Paragraph('Letter to Ada Lovelace')] }) },
        footers: { default: new Footer({ children: [new Paragraph('ada@example.com')] }) },
        children: [
          new Paragraph({ children: [new TextRun('Dear Ada '), new TextRun({ text: 'Love', bold: true }), new TextRun('lace, hello'), new FootnoteReferenceRun(1)] }),
          new Paragraph({ children: [new CommentRangeStart(0), new TextRun('the ship'), new CommentRangeEnd(0), new TextRun({ children: [new CommentReference(0)] })] }),
          new Paragraph({ children: [new InsertedTextRun({ text: 'by Grace Hopper', id: 1, author: 'Ada Lovelace', date: '2020-01-01T00:00:00Z' }), new DeletedTextRun({ text: 'not Grace Hop', id: 2, author: 'Ada Lovelace', date: '2020-01-01T00:00:00Z' })] }),
          new Paragraph({ children: [new ExternalHyperlink({ link: 'mailto:ada@example.com', children: [new TextRun('write to her')] }), new ExternalHyperlink({ link: 'https://example.org/a', children: [new TextRun('a site')] })] }),
          new Table({ rows: [new TableRow({ children: [new TableCell({ children: [new Paragraph('Grace Hopper')] }), new TableCell({ children: [new Paragraph('Admiral')] })] })] }),
          new Paragraph({ children: [new TextRun({ text: 'Ada Lovelace unseen', vanish: true }), new ImageRun({ type: 'jpg', data: photo, transformation: { width: 50, height: 50 }, altText: { name: 'ada.jpg', title: 'Portrait', description: 'Ada Lovelace at home' } })] }),
        ],
      }],
    });
    return new Uint8Array(await Packer.toBuffer(document));
  };

  test('all of its text is read, visible first', async () => {
    const units = await read(await build());
    expect(textsOf(units, 'shown')).toEqual(
      expect.arrayContaining(['Dear Ada Lovelace, hello', 'by Grace Hopper', 'Letter to Ada Lovelace', 'ada@example.com', 'See Grace Hopper', 'Admiral']),
    );
    expect(textsOf(units, 'hidden')).toEqual(
      expect.arrayContaining(['Ask Ada Lovelace', 'not Grace Hop', 'Ada Lovelace unseen', 'Ada Lovelace at home', 'mailto:ada@example.com', 'About Ada Lovelace']),
    );
    const first = units.findIndex(({ visibility }) => visibility === 'hidden');
    expect(units.slice(first).every(({ visibility }) => visibility === 'hidden')).toBe(true);
  });

  test('nothing of a person is left in any part; all else is', async () => {
    const bytes = await build();
    expect(tracesIn(bytes).length).toBeGreaterThan(10);
    const redacted = await anonymize(bytes, TAGS);
    expect(redacted).toMatchObject({ mediaType: MEDIA_TYPE, images: 1, downgraded: false });
    expect(tracesIn(redacted.bytes)).toEqual([]);
    const units = await read(redacted.bytes);
    expect(textsOf(units)).toEqual(
      expect.arrayContaining(['Dear «PERSON_1», hello', 'by «PERSON_2»', 'Ask «PERSON_1»', 'the ship', 'Admiral', 'write to her', 'https://example.org/a', '«EMAIL_1»', 'See «PERSON_2»']),
    );
    const parts = partsOf(redacted.bytes);
    expect(Object.keys(parts).filter((name) => /docProps|customXml|fontTable|people/.test(name))).toEqual([]);
    const document = parts['word/document.xml'] ?? '';
    expect(document).not.toMatch(/<w:(?:ins|del)[ >]|rsid|w:author/);
    // The tag has the formatting of the run in which the name began, the rest keeps its own.
    expect(document).toMatch(/<w:t[^>]*>Dear «PERSON_1»<\/w:t>/);
    expect(parts['word/comments1.xml']).toMatch(/w:author="Author 1"/);
    expect(parts['word/comments1.xml']).not.toMatch(/w:date|GH/);
  });

  test('every reference leads to a part, and every part has a type', async () => {
    const { bytes } = await anonymize(await build(), TAGS);
    const parts = partsOf(bytes);
    for (const [name, text] of Object.entries(parts)) {
      if (!name.endsWith('.rels')) continue;
      const folder = name.replace(/_rels\/[^/]*$/, '');
      for (const [, target = '', mode] of text.matchAll(/Target="([^"]*)"( TargetMode="External")?/g))
        if (!mode) expect(Object.keys(parts)).toContain(`${folder}${target}`);
      const ids = new Set([...text.matchAll(/ Id="([^"]*)"/g)].map(([, id]) => id));
      const owner = parts[name.replace('_rels/', '').replace(/\.rels$/, '')] ?? '';
      for (const [, id] of owner.matchAll(/ r:(?:id|embed|link)="([^"]*)"/g)) expect(ids).toContain(id);
    }
    for (const name of Object.keys(parts))
      if (/^word\/[^_].*\.xml$/.test(name)) expect(parts['[Content_Types].xml']).toContain(`PartName="/${name}"`);
  });
});
