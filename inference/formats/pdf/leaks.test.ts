import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { expect, test } from 'vitest';
import { leakingPages } from './leaks.ts';

/** Pages with an original, of a document whose one page shows a string as these bytes. */
async function leaks(shown: Buffer, originals: readonly string[]): Promise<readonly number[]> {
  const document = await PDFDocument.create();
  const page = document.addPage();
  const { context } = document;
  page.node.addContentStream(context.register(context.stream(`BT <${shown.toString('hex')}> Tj ET`)));
  return [...leakingPages(document, originals)];
}

const wide = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

test('an original in a string of a page is found, in bytes and in UTF-16, also a short one', async () => {
  expect(await leaks(Buffer.from('de S\u00e3o Paulo', 'latin1'), ['S\u00e3o'])).toEqual([0]);
  expect(await leaks(wide('de S\u00e3o Paulo'), ['S\u00e3o'])).toEqual([0]);
  expect(await leaks(wide('a empresa, o'), ['Empresa'])).toEqual([0]);
});

test('a short one is not read into UTF-16 as if it were bytes', async () => {
  expect(await leaks(wide('a empresa, o mar'), ['S\u00e3o'])).toEqual([]);
});

test('a word of the format that stands where the format has it is nobody', async () => {
  const document = await PDFDocument.create();
  const page = document.addPage();
  page.node.setXObject(PDFName.of('F1'), document.context.register(document.context.stream('')));
  expect([...leakingPages(document, ['Xobject'])]).toEqual([]);
  page.node.setXObject(PDFName.of('Xobject_A'), document.context.register(document.context.stream('')));
  expect([...leakingPages(document, ['Xobject'])]).toEqual([0]);
});
