import sharp, { type ChannelStats, type Region } from 'sharp';
import { describe, expect, test } from 'vitest';
import type { DocumentFile, RedactedDocument, TextUnit } from '#/ports/documents.ts';
import { paintPhoto, picture, writtenPage } from '../../../test/harness/pictures.ts';
import { randomFor } from '../../../test/harness/random.ts';
import { createRecognizer } from '../../ocr/recognizer.ts';
import type { Tools } from '../format.ts';
import { blurPicture } from './blur.ts';
import { checkAnimation, decodeFrame, inspect } from './decode.ts';
import { encode } from './encode.ts';
import { image } from './image.ts';
import { parseLayout } from './layout.ts';
import { tiff, tiffPage } from './tiff.ts';

const recognizer = createRecognizer();
/** Of pages, as they were done. */
const told: string[] = [];
const tools: Tools = {
  recognize: (picture, languages) => recognizer.recognize(picture, languages),
  checkTime: () => {},
  onPages: (done, of) => told.push(`${done}/${of}`),
};

const fileOf = (bytes: Uint8Array, mediaType: string): DocumentFile => ({ name: 'a', mediaType, bytes });
const textOf = (units: readonly TextUnit[]): string => units.map(({ text }) => text).join('\n');

/** What a part of a picture looks like: the library's statistics are always those of the whole. */
async function statsOf(bytes: Uint8Array, part: Region): Promise<ChannelStats> {
  const { channels } = await sharp(await sharp(bytes).extract(part).greyscale().png().toBuffer()).stats();
  if (!channels[0]) throw new Error('no channel');
  return channels[0];
}

/** Reads, replaces each original wherever it stands, and redacts. */
async function anonymize(file: DocumentFile, originals: Readonly<Record<string, string>>): Promise<RedactedDocument> {
  const { units, layout } = await image.read(file, { recognize: 'auto' }, tools);
  const replacements = units.flatMap((unit) =>
    Object.entries(originals).flatMap(([original, tag]) => {
      const start = unit.text.indexOf(original);
      return start < 0 ? [] : [{ unit: unit.id, start, end: start + original.length, tag }];
    }),
  );
  expect(replacements.length).toBeGreaterThan(0);
  return image.redact(file, { layout, replacements, originals: Object.keys(originals) }, tools);
}

describe('a picture with a name on it', () => {
  const page = writtenPage(['INVOICE 2231', 'LOVELACE IN LONDON', 'THANK YOU']);

  test.each(['jpeg', 'png', 'webp', 'tiff'] as const)(
    '%s: covered, the rest stands, metadata is gone',
    async (type) => {
      const exif = { IFD0: { Artist: 'Grace Hopper', ImageDescription: 'Ada at home' } };
      const bytes = await picture(page).withExif(exif).toFormat(type).toBuffer();
      const file = fileOf(bytes, `image/${type}`);
      const { units } = await image.read(file, { recognize: 'never' }, tools);
      // The library tells nothing of a TIFF's own fields; they are gone from the result all the same.
      expect(units.map(({ visibility }) => visibility)).toEqual(type === 'tiff' ? [] : ['hidden']);
      expect(textOf(units)).toContain(type === 'tiff' ? '' : 'Grace Hopper');

      const redacted = await anonymize(file, { LOVELACE: '«PERSON_1»' });

      expect(redacted).toMatchObject({ mediaType: file.mediaType, pages: 1, images: 0, downgraded: false });
      const raw = Buffer.from(redacted.bytes).toString('latin1');
      expect(raw).not.toContain('Grace');
      const facts = await sharp(redacted.bytes).metadata();
      expect([facts.exif, facts.xmp, facts.iptc, facts.icc]).toEqual([undefined, undefined, undefined, undefined]);
      expect(facts).toMatchObject({ format: type, width: page.width, height: page.height });
      const again = await image.read(fileOf(redacted.bytes, file.mediaType), { recognize: 'auto' }, tools);
      expect(textOf(again.units)).not.toContain('LOVELACE');
      expect(textOf(again.units)).toMatch(/LONDON/);
      expect(textOf(again.units)).toMatch(/PERS/);
    },
  );

  test('where it stood nothing is left but one colour and the tag', async () => {
    const file = fileOf(await picture(page).png().toBuffer(), 'image/png');
    const { layout } = await image.read(file, { recognize: 'auto' }, tools);
    const word = parseLayout(layout).frames[0]?.units[1]?.words[0];
    const { bytes } = await anonymize(file, { LOVELACE: '' });
    const { x0 = 0, y0 = 0, x1 = 0, y1 = 0 } = word?.box ?? {};
    const patch = await statsOf(bytes, { left: x0, top: y0, width: x1 - x0, height: y1 - y0 });
    expect(patch.max - patch.min).toBe(0);
  });

  test('an original that nobody replaced is covered, where the result still shows it', async () => {
    const file = fileOf(await picture(page).png().toBuffer(), 'image/png');
    const { layout } = await image.read(file, { recognize: 'auto' }, tools);
    const { bytes } = await image.redact(file, { layout, replacements: [], originals: ['London'] }, tools);
    const again = await image.read(fileOf(bytes, 'image/png'), { recognize: 'auto' }, tools);
    expect(textOf(again.units)).not.toContain('LONDON');
    expect(textOf(again.units)).toContain('LOVELACE');
  });

  test('the layout of another picture is refused', async () => {
    const file = fileOf(await picture(page).png().toBuffer(), 'image/png');
    const layout = JSON.stringify({ frames: [{ width: 1, height: 1, units: [] }] });
    for (const wrong of [layout, '{}', 'x', '{"frames":[]}']) {
      const redacted = image.redact(file, { layout: wrong, replacements: [], originals: [] }, tools);
      await expect(redacted).rejects.toMatchObject({ kind: 'unreadable' });
    }
  });
});

describe('photographs', () => {
  const box = { x0: 500, y0: 220, x1: 900, y1: 600 };

  test('on a page with text are found, and blurred beyond recognition', async () => {
    const page = writtenPage(['IDENTITY CARD', 'LOVELACE', 'LONDON', 'NUMBER 27182', 'VALID']);
    paintPhoto(page, box);
    const file = fileOf(await picture(page).png().toBuffer(), 'image/png');
    const [recognized] = (await image.recognize?.(file, { includeImages: true }, tools)) ?? [];
    expect(recognized?.images).toHaveLength(1);
    const [found] = recognized?.images ?? [];
    expect(Math.abs((found?.top_left_x ?? 0) - box.x0)).toBeLessThanOrEqual(48);
    expect(Math.abs((found?.bottom_right_y ?? 0) - box.y1)).toBeLessThanOrEqual(48);
    expect(recognized?.markdown).toContain(`![${found?.id}](${found?.id})`);
    const crop = await sharp(Buffer.from(found?.image_base64?.split(',')[1] ?? '', 'base64')).metadata();
    expect(crop.width).toBe((found?.bottom_right_x ?? 0) - (found?.top_left_x ?? 0));

    const { bytes, images } = await anonymize(file, { LOVELACE: '«PERSON_1»' });

    expect(images).toBe(1);
    const inside = { left: box.x0 + 60, top: box.y0 + 60, width: 100, height: 100 };
    const before = await statsOf(file.bytes, inside);
    const after = await statsOf(bytes, inside);
    expect(before.stdev).toBeGreaterThan(20);
    expect(after.stdev).toBeLessThan(12);
    const again = await image.read(fileOf(bytes, 'image/png'), { recognize: 'auto' }, tools);
    expect(textOf(again.units)).toMatch(/IDENTITY/);
  });

  test('without a word are blurred whole', async () => {
    const page = writtenPage([]);
    paintPhoto(page, { x0: 0, y0: 0, x1: page.width, y1: page.height });
    const file = fileOf(await picture(page).jpeg().toBuffer(), 'image/jpeg');
    const { layout } = await image.read(file, { recognize: 'never' }, tools);
    const { bytes, images } = await image.redact(file, { layout, replacements: [], originals: [] }, tools);
    expect(images).toBe(1);
    expect((await sharp(bytes).stats()).channels[0]?.stdev).toBeLessThan(12);
  });
});

test('a picture within a document is blurred whole, in its own size', async () => {
  const page = writtenPage(['SECRET']);
  const bytes = await picture(page)
    .withExif({ IFD0: { Artist: 'Grace Hopper' } })
    .jpeg()
    .toBuffer();
  for (const type of ['png', 'jpeg'] as const) {
    const blurred = await blurPicture(bytes, `image/${type}`);
    const facts = await sharp(blurred).metadata();
    expect(facts).toMatchObject({ format: type, width: page.width, height: page.height });
    expect(facts.exif).toBeUndefined();
    const { units } = await image.read(fileOf(blurred, `image/${type}`), { recognize: 'auto' }, tools);
    expect(textOf(units)).not.toMatch(/SECRET/);
  }
  await expect(blurPicture(bytes.subarray(0, 400), 'image/png')).rejects.toMatchObject({ kind: 'unreadable' });
});

describe('frames', () => {
  const pages = [['FIRST PAGE', 'LOVELACE'], ['SECOND']].map((lines) => writtenPage(lines));

  test('of a TIFF keep their sizes, and each is a page', async () => {
    const frames = await Promise.all(pages.map(async (page) => decodeFrame(await picture(page).png().toBuffer(), 0)));
    const file = fileOf(await encode(frames, 'image/tiff'), 'image/tiff');
    told.length = 0;
    const redacted = await anonymize(file, { LOVELACE: '«PERSON_1»' });
    expect(redacted.pages).toBe(2);
    expect(told.splice(0)).toEqual(['0/2', '1/2', '2/2', '0/2', '1/2', '2/2']);
    for (const [index, page] of pages.entries()) {
      const { width, height } = await decodeFrame(redacted.bytes, index);
      expect([width, height]).toEqual([page.width, page.height]);
    }
    const drawn = await image.render?.(fileOf(redacted.bytes, 'image/tiff'), { maxPages: 2 }, tools);
    expect(drawn?.map(({ page, mediaType }) => [page, mediaType])).toEqual([
      [0, 'image/png'],
      [1, 'image/png'],
    ]);
    const two = image.render?.(file, { maxPages: 1 }, tools);
    await expect(two).rejects.toMatchObject({ kind: 'too_many_pages' });
  });

  test('of a TIFF may be many: twelve pages of A4 at 300 dots an inch', async () => {
    const [width, height] = [2480, 3508];
    const page = await tiffPage({ data: Buffer.alloc(width * height * 3, 255), width, height, dpi: 300 });
    const file = fileOf(tiff(Array.from({ length: 12 }, () => page)), 'image/tiff');
    const { layout } = await image.read(file, { recognize: 'never' }, tools);
    const redacted = await image.redact(file, { layout, replacements: [], originals: [] }, tools);
    expect(redacted.pages).toBe(12);
    expect(await decodeFrame(redacted.bytes, 11)).toMatchObject({ width, height, dpi: 300 });
  });

  test.each([
    ['grey', 1],
    ['coloured', 3],
  ] as const)('of a TIFF are small where they are %s and noisy', async (_, channels) => {
    const [width, height] = [200, 300];
    const random = randomFor(1, 'noise');
    const data = Buffer.alloc(width * height * 3);
    for (let at = 0; at < data.length; at++)
      data[at] = channels === 1 && at % 3 > 0 ? (data[at - 1] ?? 0) : 100 + random.whole(0, 60);
    const page = await tiffPage({ data, width, height, dpi: 300 });
    expect(page).toMatchObject({ channels, compression: 'jpeg' });
    const read = await decodeFrame(tiff([page, page]), 1);
    expect(read).toMatchObject({ width, height, dpi: 300 });
    const error = read.data.reduce((sum, value, at) => sum + Math.abs(value - (data[at] ?? 0)), 0) / data.length;
    expect(error).toBeLessThan(channels === 1 ? 6 : 20);
  });

  test('of an animation have a bound in all, told by its head', () => {
    const facts = { frames: 12, pixels: 9_000_000, hiddenText: '' };
    expect(() => checkAnimation(facts, 'image/gif')).toThrow(expect.objectContaining({ kind: 'too_large' }) as Error);
    expect(() => checkAnimation({ ...facts, frames: 11 }, 'image/webp')).not.toThrow();
    expect(() => checkAnimation(facts, 'image/tiff')).not.toThrow();
  });

  test('of a GIF keep their pace', async () => {
    const { data, width, height } = writtenPage(['MOVING']);
    const raw = { width, height: height * 2, channels: 3 as const, pageHeight: height };
    const gif = await sharp(Buffer.concat([data, Buffer.alloc(data.length, 200)]), { raw })
      .gif({ delay: [300, 700], loop: 3 })
      .toBuffer();
    const file = fileOf(gif, 'image/gif');
    const { layout } = await image.read(file, { recognize: 'never' }, tools);
    const { bytes } = await image.redact(file, { layout, replacements: [], originals: [] }, tools);
    expect(await inspect(bytes)).toMatchObject({ frames: 2, animation: { delay: [300, 700], loop: 3 } });
  });

  test('beyond the bound of pixels are shown smaller', async () => {
    const big = await sharp({ create: { width: 4000, height: 2500, channels: 3, background: '#123456' } })
      .png()
      .toBuffer();
    const [page] = (await image.render?.(fileOf(big, 'image/png'), { maxPages: 1 }, tools)) ?? [];
    expect((page?.width ?? 0) * (page?.height ?? 0)).toBeLessThanOrEqual(4_000_000);
    expect((page?.width ?? 0) / (page?.height ?? 1)).toBeCloseTo(1.6, 2);
  });

  test('lying on their side are put upright', async () => {
    const bytes = await picture(pages[0] ?? writtenPage([]))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const { width, height } = await decodeFrame(bytes, 0, 100_000);
    expect(height).toBeGreaterThan(width);
  });
});

describe('hostile pictures', () => {
  /** A PNG that says it is 30,000 pixels a side, in a few bytes. */
  const vast = Buffer.from(
    '89504e470d0a1a0a0000000d4948445200007530000075300802000000' + '00000000' + '0000000049454e44ae426082',
    'hex',
  );

  test.each([
    ['too many pixels', vast, /too_large|unreadable/],
    ['nothing but a head', Buffer.from('89504e470d0a1a0a', 'hex'), /unreadable/],
    ['garbage behind a head', Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(5000, 0x5a)]), /unreadable/],
  ])('%s', async (_name, bytes, kind) => {
    const failed: unknown = await image
      .read(fileOf(bytes, 'image/png'), { recognize: 'auto' }, tools)
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ name: 'DocumentFault', kind: expect.stringMatching(kind) as unknown });
  });

  test('cut in half', async () => {
    const whole = await picture(writtenPage(['CUT']))
      .jpeg()
      .toBuffer();
    const half = fileOf(whole.subarray(0, whole.length / 2), 'image/jpeg');
    await expect(image.read(half, { recognize: 'auto' }, tools)).rejects.toMatchObject({ kind: 'unreadable' });
  });
});
