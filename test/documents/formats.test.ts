import { PDFDocument } from '@cantoo/pdf-lib';
import { Document, Packer, Paragraph } from 'docx';
import exceljs from 'exceljs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { formOf, ocrOf, startDocumentWorld, type DocumentWorld } from './world.ts';

interface Answer {
  readonly filename: string;
  readonly content_type: string;
  readonly content_base64: string;
  readonly summary: { readonly pages: number; readonly categories: readonly string[] };
  readonly mapping: readonly { readonly token: string; readonly original: string }[];
}

/** A document of each kind of text, and what it is without Ada, her address and her account. */
const TEXTS: readonly (readonly [name: string, mediaType: string, text: string])[] = [
  ['a.txt', 'text/plain', 'Ada Lovelace, ada@example.com\nIBAN DE89 3704 0044 0532 0130 00\nADA  LOVELACE\n'],
  ['a.md', 'text/markdown', '# Ada Lovelace\n\nWrite to [her](mailto:ada@example.com), DE89370400440532013000.\n'],
  ['a.csv', 'text/csv', 'name,mail,account\nAda Lovelace,ada@example.com,DE89370400440532013000\n'],
  [
    'a.html',
    'text/html',
    '<!doctype html><title>Ada Lovelace</title><!-- ada@example.com --><p alt="x">Ada <b>Lovelace</b> DE89370400440532013000</p>',
  ],
];

let engine: EngineProcess;
let world: DocumentWorld;
beforeAll(async () => {
  engine = await startDocumentEngine();
  world = await startDocumentWorld({ documentsUrl: engine.url });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await engine.stop();
});

describe('a document of text', () => {
  test.each(TEXTS)(
    '%s comes back without what is personal; the mapping puts it back',
    async (name, mediaType, text) => {
      const options = { remove: [{ term: 'Ada Lovelace', label: 'person' }], include_mapping: true };
      const answer = await world.anonymize(formOf(Buffer.from(text), name, options));
      const body = (await answer.json()) as Answer;
      expect([answer.status, body.filename, body.content_type]).toEqual([200, name, mediaType]);
      const left = Buffer.from(body.content_base64, 'base64').toString('utf8');
      expect(left).not.toMatch(/ada|lovelace|example\.com|3704/i);
      const originals = body.mapping.map(({ original }) => original.replace(/\s/g, ''));
      expect(originals.sort()).toEqual(expect.arrayContaining(['AdaLovelace', 'DE89370400440532013000']));
      for (const { token } of body.mapping) expect(token).toMatch(/^«(?:PERSON|EMAIL|IBAN)_1»$/);
      expect(await world.row(answer)).toMatchObject({
        units: { pages: 1 },
        cost_nano_eur: '1000000',
        outcome: 'served',
      });
    },
  );
});

const LINES = ['Ada Lovelace', 'ada@example.com', 'DE89 3704 0044 0532 0130 00'];

async function pdf(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (const line of [...LINES, ...Array.from({ length: 9 }, (_, index) => `Page ${index}`)]) {
    document.addPage([300, 200]).drawText(line, { x: 20, y: 100, size: 14 });
  }
  return document.save();
}

const word = (): Promise<Uint8Array> =>
  Packer.toBuffer(
    new Document({ creator: 'Ada Lovelace', sections: [{ children: LINES.map((text) => new Paragraph(text)) }] }),
  );

async function workbook(): Promise<Uint8Array> {
  const book = new exceljs.Workbook();
  book.creator = 'Ada Lovelace';
  for (const [index, line] of LINES.entries()) book.addWorksheet(`Sheet ${index}`).addRow([line, index]);
  return new Uint8Array(await book.xlsx.writeBuffer());
}

test.each([
  ['a.pdf', pdf, 12],
  ['a.docx', word, 1],
  ['a.xlsx', workbook, 3],
] as const)('%s comes back without what is personal, billed by its pages', async (name, make, pages) => {
  const options = { remove: ['Ada Lovelace'], entities: ['email', 'iban'], include_mapping: true };
  const answer = await world.anonymize(formOf(await make(), name, options));
  const body = (await answer.json()) as Answer;
  expect([answer.status, JSON.stringify(body).slice(0, 300)]).toEqual([200, expect.any(String)]);
  expect(body.summary).toMatchObject({ categories: ['EMAIL', 'IBAN', 'TERM'], pages });
  expect(await world.row(answer)).toMatchObject({ units: { pages }, cost_nano_eur: String(pages * 1_000_000) });
  const again = await world.anonymize(formOf(Buffer.from(body.content_base64, 'base64'), name, options));
  expect(((await again.json()) as Answer).mapping).toEqual([]);
});

test('a PDF with a text layer is read by gw/ocr without recognition', async () => {
  const answer = await world.ocr(ocrOf(await pdf(), { pages: [0, 1] }, 'application/pdf'));
  const { pages } = (await answer.json()) as { pages: readonly { markdown: string }[] };
  expect(pages.map(({ markdown }) => markdown.trim())).toEqual(['Ada Lovelace', 'ada@example.com']);
});
