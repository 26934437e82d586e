import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { paper, print, wordAccuracy, worn, type Print } from '../../test/harness/printed-page.ts';
import { WRITTEN_TEXTS } from '../../test/harness/written-texts.ts';
import type { Picture, RecognizedText } from '../page/page.ts';
import { toMarkdown } from './markdown.ts';
import { createRecognizer, newReading } from './recognizer.ts';
import { textOf } from './written-language.ts';

const recognizer = createRecognizer();
const DPI = 150;
const SHORT = { width: 7, height: 2.6 };

async function pictureOf(page: Sharp, dpi = DPI): Promise<Picture> {
  const { data: png, info } = await page.png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true });
  return { png, width: info.width, height: info.height, dpi };
}

const paragraphOf = (language: string): string =>
  WRITTEN_TEXTS.find((text) => text.language === language)?.paragraphs[0] ?? '';

/** A paragraph on a slip of paper. */
const slip = (language: string): Promise<Sharp> =>
  print(paper(DPI, SHORT), [{ text: paragraphOf(language), x: 80, y: 60, width: 880 }]);

function accuracy(text: string, { lines }: RecognizedText): number {
  return wordAccuracy(text.split(/\s+/), textOf(lines).split(/\s+/));
}

/** Whether the first word's box holds print, and what is left of it none. */
async function inkUnder({ lines }: RecognizedText, { png }: Picture): Promise<number> {
  const box = lines[0]?.words[1]?.box ?? { x0: 0, y0: 0, x1: 1, y1: 1 };
  const area = { left: box.x0, top: box.y0, width: box.x1 - box.x0, height: box.y1 - box.y0 };
  const cut = await sharp(png).extract(area).greyscale().png().toBuffer();
  return (await sharp(cut).stats()).channels[0]?.min ?? 255;
}

describe('languages', () => {
  test('found out with one short look before, and remembered for the next page', async () => {
    let passes = 0;
    const reading = newReading(() => passes++);
    const page = await pictureOf(sharp(await worn(await slip('pol'))));
    const found = await recognizer.recognize(page, undefined, reading);
    expect(found.languages).toEqual(['pol']);
    expect(accuracy(paragraphOf('pol'), found)).toBeGreaterThan(0.9);
    expect(passes).toBe(2);
    await recognizer.recognize(page, undefined, reading);
    expect(passes).toBe(3);
    expect(reading.languages).toEqual(['pol']);
    // The next page is in another: what was remembered is not believed.
    const other = await recognizer.recognize(await pictureOf(await slip('deu')), undefined, reading);
    expect(other.languages).toEqual(['deu']);
    expect(accuracy(paragraphOf('deu'), other)).toBeGreaterThan(0.9);
    expect(textOf(other.lines)).toContain('geprüft');
  });

  test('given ones are used, by either code; one that is not there is refused before anything is read', async () => {
    const page = await pictureOf(await slip('fra'));
    const given = await recognizer.recognize(page, ['fr']);
    expect(given.languages).toEqual(['fra']);
    expect(textOf(given.lines)).toContain('février');
    await expect(recognizer.recognize(page, ['fr', 'xx'])).rejects.toMatchObject({ kind: 'unsupported' });
  });

  test('two on one page', async () => {
    const [english, polish] = [paragraphOf('eng'), paragraphOf('pol')];
    const prints: readonly Print[] = [
      { text: english, x: 80, y: 60, width: 880 },
      { text: polish, x: 80, y: 420, width: 880 },
    ];
    const found = await recognizer.recognize(await pictureOf(await print(paper(DPI, { width: 7, height: 5 }), prints)));
    expect(found.languages.toSorted()).toEqual(['eng', 'pol']);
    expect(accuracy(`${english} ${polish}`, found)).toBeGreaterThan(0.93);
  });
});

describe('pages that lie otherwise', () => {
  test.each([90, 180, 270])('turned by %i degrees: read, and the boxes are where the words are', async (degrees) => {
    const page = await pictureOf((await slip('eng')).rotate(degrees));
    const found = await recognizer.recognize(page);
    expect(found.rotation).toBe(360 - degrees);
    expect(accuracy(paragraphOf('eng'), found)).toBeGreaterThan(0.9);
    expect(await inkUnder(found, page)).toBeLessThan(100);
  });

  test('leaning by 3 degrees: set level', async () => {
    const page = await pictureOf((await slip('ita')).rotate(3, { background: '#ffffff' }));
    const found = await recognizer.recognize(page, ['ita']);
    expect(Math.abs(found.rotation + 3)).toBeLessThan(0.3);
    expect(accuracy(paragraphOf('ita'), found)).toBeGreaterThan(0.9);
    expect(await inkUnder(found, page)).toBeLessThan(100);
  });
});

describe('layout', () => {
  test('a heading, two columns, a list and a table become markdown in their order', async () => {
    const cells = [
      ['Item', 'Pieces', 'Price'],
      ['Roof tiles', '1,200', '3,480'],
      ['Paint', '18', '412'],
    ];
    const prints: Print[] = [
      { text: 'Minutes of the harbour meeting', x: 80, y: 60, size: 20, bold: true },
      { text: paragraphOf('eng'), x: 80, y: 150, width: 420 },
      { text: paragraphOf('eng').replace('The council', 'Another council'), x: 580, y: 150, width: 420 },
      { text: '• measure the cellar', x: 100, y: 640 },
      { text: '• write to the insurance', x: 100, y: 680 },
      ...cells.flatMap((row, y) => row.map((text, x) => ({ text, x: 80 + x * 300, y: 760 + y * 40 }))),
    ];
    const page = await pictureOf(await print(paper(DPI, { width: 7.2, height: 6.4 }), prints));
    const markdown = toMarkdown((await recognizer.recognize(page, ['eng'])).lines);
    const pieces = markdown.split('\n\n');
    expect(pieces[0]).toBe('# Minutes of the harbour meeting');
    expect(pieces[1]).toMatch(/^The council met .* another row of flats\.$/);
    expect(pieces[2]).toMatch(/^Another council met .* another row of flats\.$/);
    expect(pieces[3]).toBe('- measure the cellar\n- write to the insurance');
    expect(pieces[4]).toBe(
      '| Item | Pieces | Price |\n| --- | --- | --- |\n| Roof tiles | 1,200 | 3,480 |\n| Paint | 18 | 412 |',
    );
  });
});

describe('what is no page', () => {
  test.each([
    ['one dot', 1, 1],
    ['a thread', 3000, 2],
    ['empty paper', 900, 1200],
    ['huge empty paper', 6900, 6900],
  ])('%s: no text', async (_name, width, height) => {
    const create = { width, height, channels: 3 as const, background: '#ffffff' };
    const found = await recognizer.recognize(await pictureOf(sharp({ create })));
    expect(found.lines).toEqual([]);
  });

  test.each([Buffer.alloc(0), Buffer.from('no picture'), Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')])(
    'garbage is refused, and the next page is read',
    async (png) => {
      const broken = recognizer.recognize({ png, width: 10, height: 10, dpi: 72 });
      await expect(broken).rejects.toMatchObject({ kind: 'unreadable' });
      const found = await recognizer.recognize(await pictureOf(await slip('eng')), ['eng']);
      expect(accuracy(paragraphOf('eng'), found)).toBeGreaterThan(0.9);
    },
  );

  test('noise ends, with next to nothing', async () => {
    const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 };
    const page = sharp({ create: { width: 700, height: 700, channels: 3, background: '#888888', noise } });
    const { lines } = await recognizer.recognize(await pictureOf(page));
    const sure = lines.flatMap((line) => line.words).filter((word) => word.confidence > 0.8 && word.text.length > 3);
    expect(sure).toEqual([]);
  });

  test('small letters of a screen, and large ones of a poster', async () => {
    const text = 'Everyone who lives within two miles may send their thoughts';
    for (const [dpi, told] of [
      [75, 72],
      [400, 400],
    ] as const) {
      const page = await print(paper(dpi, { width: 6, height: 1 }), [{ text, x: dpi / 4, y: dpi / 4 }]);
      const found = await recognizer.recognize(await pictureOf(page, told), ['eng']);
      expect(accuracy(text, found)).toBeGreaterThan(0.85);
    }
  });
});

test('a job that was given up ends between two passes', async () => {
  const given = newReading(() => {
    throw new Error('given up');
  });
  await expect(recognizer.recognize(await pictureOf(await slip('eng')), ['eng'], given)).rejects.toThrow('given up');
});
