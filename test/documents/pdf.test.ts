import { deflateSync } from 'node:zlib';
import { PDFDocument } from '@cantoo/pdf-lib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDocumentEngine } from '#adapters/inference/documents.ts';
import type { DocumentEngine, DocumentFile } from '#ports/documents.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { letter } from '../harness/pdfs.ts';

const { signal } = new AbortController();
const fileOf = (bytes: Uint8Array): DocumentFile => ({ name: 'a.pdf', mediaType: 'application/pdf', bytes });
const kindOf = (error: unknown): unknown => (error as { kind?: unknown }).kind;

/** A file of these objects, the first of which is the catalog, without the table of them that readers rebuild. */
function fileFrom(...objects: readonly (string | Buffer)[]): Uint8Array {
  const parts = objects.flatMap((object, at) => [`${at + 1} 0 obj\n`, object, '\nendobj\n']);
  const all = ['%PDF-1.7\n', ...parts, `trailer<</Root 1 0 R/Size ${objects.length + 1}>>\n%%EOF\n`];
  return Buffer.concat(all.map((part) => Buffer.from(part)));
}

const CATALOG = '<</Type/Catalog/Pages 2 0 R>>';
const PAGES = '<</Type/Pages/Kids[3 0 R]/Count 1>>';
const page = (rest: string): string => `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R${rest}>>`;

function stream(bytes: Buffer, head: string): Buffer {
  return Buffer.concat([Buffer.from(`<<${head}/Length ${bytes.length}>>stream\n`), bytes, Buffer.from('\nendstream')]);
}

/** A gigabyte of blanks, deflated twice over. */
function deflateBomb(): Uint8Array {
  const once = deflateSync(Buffer.alloc(1 << 28, 0x20));
  const content = stream(deflateSync(once), '/Filter[/FlateDecode/FlateDecode]');
  return fileFrom(CATALOG, PAGES, page(''), content);
}

/** Each form draws the next one ten times. */
function nestedForms(): Uint8Array {
  const form = (at: number): Buffer =>
    stream(
      Buffer.from('/X Do '.repeat(10)),
      `/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X ${at + 6} 0 R>>>>`,
    );
  const forms = Array.from({ length: 12 }, (_, at) => form(at));
  const last = stream(Buffer.from('0 0 9 9 re f'), '/Type/XObject/Subtype/Form/BBox[0 0 9 9]');
  return fileFrom(
    CATALOG,
    PAGES,
    page('/Resources<</XObject<</X 5 0 R>>>>'),
    stream(Buffer.from('/X Do'), ''),
    ...forms,
    last,
  );
}

function hugePicture(): Uint8Array {
  const head =
    '/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/FlateDecode';
  const picture = stream(deflateSync(Buffer.alloc(1 << 26)), head);
  const content = stream(Buffer.from('200 0 0 200 0 0 cm /I Do'), '');
  return fileFrom(CATALOG, PAGES, page('/Resources<</XObject<</I 5 0 R>>>>'), content, picture);
}

async function manyPages(): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  for (let index = 0; index < 2100; index++) document.addPage([10, 10]);
  return document.save();
}

const circle = (): Uint8Array => fileFrom(CATALOG, '<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2000000000>>');

describe('hostile documents', () => {
  let process: EngineProcess;
  let engine: DocumentEngine & { close(): Promise<void> };
  beforeAll(async () => {
    process = await startDocumentEngine({ GW_INFERENCE_STEP_SECONDS: '15', GW_INFERENCE_JOB_SECONDS: '60' });
    engine = openDocumentEngine({ url: () => process.url });
    await process.ready();
  });
  afterAll(async () => {
    await engine.close();
    await process.stop();
  });

  test.each([
    ['a gigabyte in a few bytes', deflateBomb, ['too_large', 'unreadable']],
    ['forms in forms', nestedForms, ['too_large']],
    ['a picture of billions of dots', hugePicture, ['too_large', 'unreadable']],
    ['pages without end', manyPages, ['too_many_pages']],
    ['pages that hold themselves', circle, ['unreadable', 'too_many_pages', 'too_large']],
    ['half a document', async () => (await letter(['Hello'])).subarray(0, 300), ['unreadable']],
  ] as const)('%s ends, and the next one is read', async (_name, build, kinds) => {
    const bytes = await build();
    const failed = await engine.render(fileOf(bytes), { maxPages: 48 }, signal).catch(kindOf);
    // What is drawn in time has done no harm.
    if (!Array.isArray(failed)) expect(kinds).toContain(failed);
    const read = await engine.read(fileOf(bytes), { recognize: 'never' }, signal).catch(kindOf);
    if (typeof read === 'string') expect(kinds).toContain(read);

    const { units } = await engine.read(fileOf(await letter(['Good morning'])), { recognize: 'auto' }, signal);
    expect(units[0]?.text).toBe('Good morning');
  });
});
