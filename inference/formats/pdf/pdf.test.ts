import { PDFDocument, PDFName, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { everythingIn, hasPdfTools, letter, PLANTED, plantedPdf, SEEN } from '../../../test/harness/pdfs.ts';
import { picture, writtenPage } from '../../../test/harness/pictures.ts';
import { skipUnless } from '../../../test/harness/skip.ts';
import type { Tools } from '../format.ts';
import { pdf } from './pdf.ts';
import { PdfiumFile } from './pdfium.ts';
import { anonymize, bare, fileOf, recognitions, textsOf, tools } from './testing/anonymize.ts';

describe('a document with a name in every place', () => {
  let bytes: Uint8Array;
  beforeAll(async () => {
    bytes = await plantedPdf();
  });

  test('all of them are read, and said to be hidden where nobody sees them', async () => {
    const { units, images, pages, kind } = await pdf.read(fileOf(bytes), { recognize: 'auto' }, tools);

    expect({ images, pages, kind }).toEqual({ images: 2, pages: 1, kind: 'pdf' });
    const shown = units
      .filter(({ visibility }) => visibility === 'shown')
      .map(({ text }) => text)
      .join('\n');
    const hidden = units
      .filter(({ visibility }) => visibility === 'hidden')
      .map(({ text }) => text)
      .join('\n');
    for (const place of SEEN) expect(shown, place).toContain(PLANTED[place]);
    // What is not drawn at all, and the insides of pictures, are not read: they go with everything else.
    const unread = ['unused', 'picture'];
    for (const [place, name] of Object.entries(PLANTED))
      if (!unread.includes(place)) expect(`${shown}\n${hidden}`, place).toContain(name);
    expect(new Set(units.map(({ id }) => id)).size).toBe(units.length);
  });

  test('none is left, though only those that are seen were named', async () => {
    const names = SEEN.map((place) => PLANTED[place]);

    const redacted = await anonymize(bytes, names);

    expect(redacted).toMatchObject({ pages: 1, images: 2, downgraded: false, mediaType: 'application/pdf' });
    const all = bare(await everythingIn(redacted.bytes));
    for (const [place, name] of Object.entries(PLANTED)) expect(all.includes(bare(name)), place).toBe(false);
    const text = (await textsOf(redacted.bytes)).join('\n');
    for (const [index, place] of SEEN.entries())
      if (place !== 'field') expect(text, place).toContain(`«PERSON_${index + 1}»`);
    expect(text).toMatch(/Dear «PERSON_1»\s*, welcome\./);
    expect(text).toMatch(/Filled «PERSON_6»/);
    const document = await PDFDocument.load(redacted.bytes, { updateMetadata: false });
    expect(document.catalog.keys().map(String).toSorted()).toEqual(['/Pages', '/Type']);
    expect(document.context.trailerInfo.Info).toBeUndefined();
    expect(Buffer.from(redacted.bytes).toString('latin1').match(/%%EOF/g)).toHaveLength(1);
  });

  test('pictures are blots, in forms and in content too', async () => {
    const [before, after] = [bytes, (await anonymize(bytes, [PLANTED.line])).bytes].map((one) =>
      pdf.render?.(fileOf(one), { maxPages: 1 }, tools),
    );
    const contrast = async (pages: typeof before, left: number, top: number, side: number): Promise<number> => {
      const [page] = (await pages) ?? [];
      const factor = (page?.width ?? 0) / 595;
      const part = { left, top, width: side, height: side };
      const region = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, Math.round(value * factor)]));
      const cut = await sharp(Buffer.from(page?.data ?? '', 'base64'))
        .extract(region as typeof part)
        .greyscale()
        .png()
        .toBuffer();
      return (await sharp(cut).stats()).channels[0]?.stdev ?? 0;
    };

    expect(await contrast(before, 65, 190, 80)).toBeGreaterThan(100);
    expect(await contrast(after, 65, 190, 80)).toBeLessThan(45);
    expect(await contrast(before, 305, 230, 50)).toBeGreaterThan(60);
    expect(await contrast(after, 305, 230, 50)).toBeLessThan(10);
  });
});

describe('a page that cannot be rewritten', () => {
  test('becomes a picture with a layer of text, and is said to be downgraded', async () => {
    const document = await PDFDocument.load(await letter(['LOVELACE IN LONDON', 'THANK YOU'], 24));
    const { context } = document;
    const page = document.getPage(0);
    // A layer that is off: what it hides would come to light when marks are taken off.
    const layer = context.register(context.obj({ Type: 'OCG', Name: 'Off' }));
    const off = context.obj({ OCGs: [layer], D: { OFF: [layer] } });
    document.catalog.set(PDFName.of('OCProperties'), off);
    page.node.Resources()?.set(PDFName.of('Properties'), context.obj({ L: layer }));
    const drawn = '/OC /L BDC 0 g 60 300 400 200 re f EMC';
    page.node.addContentStream(context.register(context.stream(drawn)));

    const redacted = await anonymize(await document.save(), ['LOVELACE']);

    expect(redacted).toMatchObject({ pages: 1, downgraded: true });
    const text = (await textsOf(redacted.bytes)).join(' ');
    expect(text).toMatch(/«PERSON_1».*IN LONDON.*THANK YOU/s);
    expect(bare(await everythingIn(redacted.bytes))).not.toContain('lovelace');
  });

  test('is refused when the name stays in the picture of it', async () => {
    const document = await PDFDocument.load(await letter(['Dear reader'], 11));
    const pixels = writtenPage(['LOVELACE IN LONDON']);
    const image = await document.embedPng(await picture(pixels).png().toBuffer());
    document.getPage(0).drawImage(image, { x: 60, y: 200, width: 400, height: (400 * pixels.height) / pixels.width });
    const bytes = await document.save();
    const blind: Tools = {
      checkTime: () => {},
      onPages: () => {},
      recognize: () =>
        Promise.resolve({
          ...{ rotation: 0, languages: [] },
          lines: [{ block: 0, box: BOX, words: [{ text: 'LOVELACE', box: BOX, confidence: 1 }] }],
        }),
    };
    const { layout } = await pdf.read(fileOf(await scanOf(bytes)), { recognize: 'auto' }, blind);
    const options = { layout, replacements: [], originals: ['LOVELACE'] };

    await expect(pdf.redact(fileOf(await scanOf(bytes)), options, blind)).rejects.toMatchObject({
      kind: 'redaction_failed',
    });
  });
});

test('pages are told as they are read, and as they are rewritten', async () => {
  const document = await PDFDocument.create();
  for (let at = 0; at < 3; at++)
    document.addPage([200, 200]).drawText(`Page ${at} of Ada`, { x: 20, y: 100, size: 12 });
  const file = fileOf(await document.save());
  const told: number[][] = [];
  const telling: Tools = { ...tools, onPages: (...pages) => void told.push(pages) };
  const { layout } = await pdf.read(file, { recognize: 'auto' }, telling);
  const all = [0, 1, 2, 3].map((done) => [done, 3]);
  expect(told.splice(0)).toEqual(all);
  await pdf.redact(file, { layout, replacements: [], originals: [] }, telling);
  // None is done before all were rewritten and looked at.
  expect(told).toEqual([[0, 3], ...all]);
});

describe('the layer of text of a page that was recognized', () => {
  test('says what was searched, and not what the result is read as', async () => {
    const document = await PDFDocument.create();
    const page = document.addPage([595, 842]);
    for (let at = 0; at < 4; at++) page.drawRectangle({ x: 36, y: 842 - 36 - at * 36, width: 36, height: 18 });
    const bytes = await scanOf(await document.save());
    // Around each of them, at 200 dpi.
    const place = (at: number) => ({ x0: 90, y0: 40 + at * 100, x1: 210, y1: 110 + at * 100 });
    const saying = (texts: readonly string[]): Tools => ({
      checkTime: () => {},
      onPages: () => {},
      recognize: () =>
        Promise.resolve({
          ...{ rotation: 0, languages: [] },
          lines: texts.flatMap((text, at) =>
            text === '' ? [] : [{ block: at, box: place(at), words: [{ text, box: place(at), confidence: 1 }] }],
          ),
        }),
    });
    const { units, layout } = await pdf.read(
      fileOf(bytes),
      { recognize: 'auto' },
      saying(['Lovelacc', 'Ada', 'in', 'x']),
    );
    const ada = { unit: units[1]?.id ?? '', start: 0, end: 3, tag: '«PERSON_1»' };

    // Of what was read, the last word cannot be seen any more.
    const again = saying(['Lovelace', '«PERSON 1»', 'in', '']);
    const redacted = await pdf.redact(fileOf(bytes), { layout, replacements: [ada], originals: ['Ada'] }, again);
    const words = (await textsOf(redacted.bytes)).flatMap((text) => text.split(/\s+/));
    expect(words).toEqual(expect.arrayContaining(['Lovelacc', 'in', '«PERSON_1»']));
    for (const word of ['Lovelace', 'Ada', 'x']) expect(words).not.toContain(word);
  });
});

const BOX = { x0: 10, y0: 10, x1: 60, y1: 30 };

/** Its first page as a picture. */
async function scanOf(bytes: Uint8Array): Promise<Uint8Array> {
  const [page] = (await pdf.render?.(fileOf(bytes), { maxPages: 1 }, tools)) ?? [];
  const document = await PDFDocument.create();
  const image = await document.embedJpg(Buffer.from(page?.data ?? '', 'base64'));
  document.addPage([595, 842]).drawImage(image, { x: 0, y: 0, width: 595, height: 842 });
  return document.save();
}

describe('reading', () => {
  test('columns one after the other, under a heading over both', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([595, 842]);
    page.drawText('A heading that goes over both of the columns on the page', { x: 60, y: 780, size: 16, font });
    for (let row = 0; row < 8; row++) {
      page.drawText(`Left column line ${row} with words`, { x: 60, y: 740 - row * 14, size: 11, font });
      page.drawText(`Right column line ${row} with words`, { x: 320, y: 740 - row * 14, size: 11, font });
    }
    const { units } = await pdf.read(fileOf(await document.save()), { recognize: 'never' }, tools);
    const texts = units.filter(({ visibility }) => visibility === 'shown').map(({ text }) => text);
    expect(texts).toHaveLength(3);
    expect(texts[0]).toMatch(/^A heading/);
    expect(texts[1]?.match(/Left column line \d/g)).toHaveLength(8);
    expect(texts[2]?.match(/Right column line \d/g)).toHaveLength(8);
  });

  test('rows of a table whole, and a value over the end of a line in one piece', async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage([595, 842]);
    for (let row = 0; row < 4; row++)
      for (const [column, x] of [60, 200, 340].entries())
        page.drawText(`r${row}c${column}`, { x, y: 700 - row * 14, size: 11, font });
    page.drawText('A paragraph that goes on and on and ends its line with account DE89 3704', {
      x: 60,
      y: 500,
      size: 11,
      font,
    });
    page.drawText('0044 0532 0130 00 and is over', { x: 60, y: 486, size: 11, font });

    const texts = await textsOf(await document.save());

    expect(texts.join('\n')).toContain('r1c0 r1c1 r1c2\nr2c0');
    expect(texts.join('\n')).toContain('account DE89 3704 0044 0532 0130 00 and');
  });

  test('a page that lies on its side', async () => {
    const document = await PDFDocument.load(await letter(['The quick brown fox', 'jumps over the lazy dog']));
    document.getPage(0).node.set(PDFName.of('Rotate'), document.context.obj(90));

    const redacted = await anonymize(await document.save(), ['quick brown']);

    const text = (await textsOf(redacted.bytes)).join('\n');
    expect(text).toContain('«PERSON_1»');
    expect(bare(text)).not.toContain('quickbrown');
    expect(redacted.downgraded).toBe(false);
  });
});

describe('a scanned page', () => {
  let scan: Uint8Array;
  beforeAll(async () => {
    const pixels = writtenPage(['INVOICE 2231', 'LOVELACE IN LONDON', 'THANK YOU']);
    const document = await PDFDocument.create();
    const image = await document.embedPng(await picture(pixels).png().toBuffer());
    const page = document.addPage([360, (360 * pixels.height) / pixels.width]);
    page.drawImage(image, { x: 0, y: 0, width: page.getWidth(), height: page.getHeight() });
    scan = await document.save();
  });

  test('is recognized, covered and given a layer of text', async () => {
    const read = await pdf.read(fileOf(scan), { recognize: 'auto' }, tools);
    expect(read).toMatchObject({ recognizedPages: [0], images: 1, pages: 1 });
    expect(read.units.map(({ text }) => text).join('\n')).toContain('LOVELACE');

    const redacted = await anonymize(scan, ['LOVELACE']);

    expect(redacted).toMatchObject({ pages: 1, downgraded: false });
    const text = (await textsOf(redacted.bytes)).join(' ');
    expect(text).toMatch(/2231.*«PERSON_1».*LONDON/s);
    expect(bare(await everythingIn(redacted.bytes))).not.toContain('lovelace');
  });

  test('with a layer of text over it is read by what is seen, and the layer is hidden text', async () => {
    const document = await PDFDocument.load(scan);
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.getPage(0);
    page.node.setFontDictionary(PDFName.of('F'), font.ref);
    const layer = 'BT 3 Tr /F 8 Tf 21 77 Td (INVOICE 2231) Tj 0 -34 Td (HOPPER IN PARIS) Tj 0 -34 Td (THANK YOU) Tj ET';
    page.node.addContentStream(document.context.register(document.context.stream(layer)));
    const bytes = await document.save();

    const read = await pdf.read(fileOf(bytes), { recognize: 'auto' }, tools);

    expect(read.recognizedPages).toEqual([0]);
    const saying = (word: string) => read.units.filter(({ text }) => text.includes(word));
    expect(saying('LOVELACE').map(({ visibility }) => visibility)).toEqual(['shown']);
    expect(saying('HOPPER').map(({ visibility }) => visibility)).toContain('hidden');
    const redacted = await anonymize(bytes, ['LOVELACE', 'HOPPER']);
    expect(redacted.downgraded).toBe(false);
    expect((await textsOf(redacted.bytes)).join(' ')).toMatch(/2231.*LONDON/s);
    const all = bare(await everythingIn(redacted.bytes));
    for (const gone of ['lovelace', 'hopper', 'paris']) expect(all).not.toContain(gone);
  });

  test('with a layer of text is read by that where recognition is not asked for', async () => {
    const document = await PDFDocument.load(scan);
    const page = document.getPage(0);
    page.node.setFontDictionary(PDFName.of('F'), (await document.embedFont(StandardFonts.Helvetica)).ref);
    const layer = 'BT 3 Tr /F 8 Tf 21 77 Td (HOPPER IN PARIS) Tj ET';
    page.node.addContentStream(document.context.register(document.context.stream(layer)));
    const read = await pdf.read(fileOf(await document.save()), { recognize: 'never' }, tools);
    expect(read.recognizedPages).toEqual([]);
    expect(read.units.map(({ text, visibility }) => [text, visibility])).toContainEqual(['HOPPER IN PARIS', 'shown']);
  });
});

describe('drawing and recognizing', () => {
  test('pages are drawn, fewer than asked for are refused first', async () => {
    const bytes = await letter(['Hello']);
    const [page] = (await pdf.render?.(fileOf(bytes), { maxPages: 1 }, tools)) ?? [];
    expect(page).toMatchObject({ page: 0, mediaType: 'image/jpeg', width: 1240, height: 1754 });
    await expect(pdf.render?.(fileOf(bytes), { maxPages: 0 }, tools)).rejects.toMatchObject({ kind: 'too_many_pages' });
  });

  test('large pages are drawn smaller, absurd ones refused', async () => {
    const sized = async (side: number): Promise<Uint8Array> => {
      const document = await PDFDocument.create();
      document.addPage([side, side]);
      return document.save();
    };
    const [page] = (await pdf.render?.(fileOf(await sized(3000)), { maxPages: 1 }, tools)) ?? [];
    expect((page?.width ?? 0) * (page?.height ?? 0)).toBeLessThan(4_400_000);
    await expect(pdf.render?.(fileOf(await sized(200_000)), { maxPages: 1 }, tools)).rejects.toMatchObject({
      kind: 'too_large',
    });
  });

  test('pages with text are not recognized; pictures are told with their boxes', async () => {
    const calls = recognitions.count;

    const [page] =
      (await pdf.recognize?.(fileOf(await plantedPdf()), { includeImages: true, imageLimit: 1 }, tools)) ?? [];

    expect(recognitions.count).toBe(calls);
    expect(page?.dimensions).toEqual({ dpi: 200, width: 1653, height: 2339 });
    expect(page?.markdown).toContain('Dear Erika Mustermann, welcome.');
    expect(page?.images).toHaveLength(1);
    expect(page?.images[0]).toMatchObject({ id: 'img-0.jpeg', top_left_x: 166, bottom_right_x: 445 });
    expect(page?.images[0]?.image_base64).toMatch(/^data:image\/jpeg;base64,/);
  });
});

describe('what cannot be read', () => {
  test.each([
    ['nothing', Buffer.alloc(0), 'unreadable'],
    ['only a header', Buffer.from('%PDF-1.7\n'), 'unreadable'],
    ['noise', Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919) % 256)), 'unreadable'],
  ] as const)('%s', async (_, bytes, kind) => {
    await expect(pdf.read(fileOf(bytes), { recognize: 'auto' }, tools)).rejects.toMatchObject({ kind });
    await expect(pdf.render?.(fileOf(bytes), { maxPages: 9 }, tools)).rejects.toMatchObject({ kind });
  });

  test('a document that needs a password; one that only its owner may change is opened, and is free then', async () => {
    const locked = async (passwords: { userPassword?: string; ownerPassword: string }): Promise<Uint8Array> => {
      const document = await PDFDocument.load(await letter([`Dear ${PLANTED.line}`]));
      document.encrypt({ ...passwords, userPassword: passwords.userPassword ?? '' });
      return document.save();
    };
    const shut = await locked({ userPassword: 'u', ownerPassword: 'o' });
    await expect(pdf.read(fileOf(shut), { recognize: 'auto' }, tools)).rejects.toMatchObject({ kind: 'encrypted' });

    const { bytes } = await anonymize(await locked({ ownerPassword: 'o' }), [PLANTED.line]);

    expect((await textsOf(bytes)).join()).toContain('«PERSON_1»');
    expect(Buffer.from(bytes).includes('/Encrypt')).toBe(false);
  });

  test('a layout of another document is refused', async () => {
    const { layout } = await pdf.read(fileOf(await letter(['One'])), { recognize: 'auto' }, tools);
    const options = { layout, replacements: [], originals: [] };
    await expect(pdf.redact(fileOf(await letter(['Two'])), options, tools)).rejects.toMatchObject({
      kind: 'unreadable',
    });
    await expect(pdf.redact(fileOf(await letter(['One'])), { ...options, layout: '{}' }, tools)).rejects.toMatchObject({
      kind: 'unreadable',
    });
  });

  test('too many pages are counted before any is opened', async () => {
    const document = await PDFDocument.create();
    for (let index = 0; index < 30; index++) document.addPage([10, 10]);
    await expect(PdfiumFile.open(await document.save(), 29)).rejects.toMatchObject({ kind: 'too_many_pages' });
  });
});

describe('other readers', skipUnless(await hasPdfTools(), 'qpdf and poppler-utils are not installed'), () => {
  test('find what is to be found, so that what they do not find is not there', async () => {
    const all = bare(await everythingIn(await plantedPdf()));
    const missed = Object.entries(PLANTED).filter(([, name]) => !all.includes(bare(name)));
    expect(missed).toEqual([]);
  });
});
