import sharp from 'sharp';
import { afterAll, expect, test } from 'vitest';
import type { DocumentEngine } from '#/ports/documents.ts';
import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { findInDocument, tagsFor } from '#/inspect/attachments/document-text.ts';
import { lookAgain, originalsOf, type Searched } from '#/inspect/attachments/second-look.ts';
import type { Tools } from '../../inference/formats/format.ts';
import type { Box, Line } from '../../inference/page/page.ts';
import { image } from '../../inference/formats/image/image.ts';

const detection = createDetectionPool({ thresholdChars: 1e6 });
afterAll(() => detection.close());

const NAME: Box = { x0: 20, y0: 20, x1: 120, y1: 50 };
const ADDRESS: Box = { x0: 160, y0: 20, x1: 380, y1: 50 };
const TERMS = [{ term: 'Ada Lovelace', label: 'person' }];
const CATEGORIES = new Set(['EMAIL', 'PERSON_NAME']);

/** Ink at the beginning of the two words; what is read of it depends on what is still there, as it does with a recognizer. */
function recognizing(readAs: { readonly address: string; readonly beside: string }): Tools {
  const word = (text: string, box: Box): Line => ({ block: 0, box, words: [{ text, box, confidence: 1 }] });
  return {
    checkTime: () => {},
    onPages: () => {},
    async recognize({ png }) {
      const { data, info } = await sharp(png).greyscale().raw().toBuffer({ resolveWithObject: true });
      const isInked = ({ x0, y0 }: Box): boolean => (data[(y0 + 1) * info.width + x0 + 1] ?? 255) < 100;
      const named = isInked(NAME);
      const lines = named ? [word('Ada Lovelace', NAME)] : [];
      if (isInked(ADDRESS)) lines.push(word(named ? readAs.address : readAs.beside, ADDRESS));
      return { lines, rotation: 0, languages: [] };
    },
  };
}

async function anonymized(tools: Tools): Promise<{ first: Searched; second: Searched; reads: number }> {
  const ink = (box: Box) => ({
    input: { create: { width: 8, height: 8, channels: 3 as const, background: '#000' } },
    ...{ left: box.x0, top: box.y0 },
  });
  const paper = sharp({ create: { width: 400, height: 80, channels: 3, background: '#fff' } });
  const bytes = await paper
    .composite([ink(NAME), ink(ADDRESS)])
    .png()
    .toBuffer();
  const file = { name: 'a.png', mediaType: 'image/png', bytes };
  let reads = 0;
  const engine: Pick<DocumentEngine, 'read' | 'redact'> = {
    read: (...[of, options]) => (reads++, image.read(of, options, tools)),
    redact: (...[of, options]) => image.redact(of, options, tools),
  };
  const { signal } = new AbortController();
  const { units, recognizedPages, layout } = await engine.read(file, { recognize: 'auto' }, signal);
  const tags = tagsFor(units);
  const scope = { terms: TERMS, categories: CATEGORIES };
  const found = await findInDocument(units, { ...scope, recognizedPages }, detection, tags);
  const document = await engine.redact(file, { layout, ...found }, signal);
  const first = { document, found };
  const second = await lookAgain(first, scope, { engine, detection, tags, signal });
  return { first, second, reads };
}

test('what is read only when the words beside it are covered is taken out, too', async () => {
  const tools = recognizing({ address: 'paca example pi', beside: 'ada.l@post.example.org' });
  const { first, second } = await anonymized(tools);
  expect(first.found.mapping).toEqual([{ token: '«PERSON_1»', original: 'Ada Lovelace' }]);
  expect(second.found).toMatchObject({
    originals: ['Ada Lovelace', 'ada.l@post.example.org'],
    findings: { PERSON: 1, EMAIL: 1 },
    mapping: [...first.found.mapping, { token: '«EMAIL_1»', original: 'ada.l@post.example.org' }],
  });
  const read = await tools.recognize({ png: second.document.bytes, width: 400, height: 80, dpi: 72 });
  expect(read.lines).toEqual([]);
});

test('a result in which nothing more is found stays as it is', async () => {
  const { first, second, reads } = await anonymized(
    recognizing({ address: 'to London', beside: 'PERSOM_1 to London' }),
  );
  expect(second).toEqual(first);
  expect(second.document).toBe(first.document);
  expect(reads).toBe(2);
});

test('a result must not have a term that was not found, where all of it was recognized', () => {
  const found = { originals: ['Ada L.'] };
  expect(originalsOf(found, { pages: 2, recognizedPages: [0, 1] }, TERMS)).toEqual(['Ada L.', 'Ada Lovelace']);
  expect(originalsOf(found, { pages: 2, recognizedPages: [1] }, TERMS)).toEqual(['Ada L.']);
});
