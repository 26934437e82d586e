import sharp, { type Sharp } from 'sharp';
import { describe, expect, test } from 'vitest';
import { paper, printText, shaded } from '../../test/harness/printed-page.ts';
import { WRITTEN_TEXTS } from '../../test/harness/written-texts.ts';
import { inkOf, skewOf } from './ink.ts';
import type { Grey } from './tesseract.ts';

const WIDTH = 600;

async function smallGrey(picture: Sharp): Promise<Grey> {
  const whole = await picture.png().toBuffer();
  const { data, info } = await sharp(whole)
    .resize({ width: WIDTH })
    .greyscale()
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

const dutch = WRITTEN_TEXTS.find(({ language }) => language === 'nld') ?? WRITTEN_TEXTS[0];

describe('a page', () => {
  test('that is darker towards a corner has ink where print is, and leans as its rows do', async () => {
    if (!dutch) throw new Error('nothing is written');
    const page = await printText({ ...paper(100), font: 'Liberation Serif' }, dutch);
    const ink = inkOf(await smallGrey(sharp(await shaded(page))));
    const dark = ink?.data.reduce((sum, value) => sum + value, 0) ?? 0;
    expect(dark / (ink?.data.length ?? 1)).toBeLessThan(0.08);
    expect(ink && skewOf(ink)).toBeCloseTo(-1.1, 0);
  });

  test.each([-5.2, -4, 2, 6])('that leans by %d degrees is told', async (degrees) => {
    if (!dutch) throw new Error('nothing is written');
    const page = await printText({ ...paper(100), font: 'Liberation Serif' }, dutch);
    const ink = inkOf(await smallGrey(page.rotate(degrees, { background: '#ffffff' })));
    expect(Math.abs((ink ? skewOf(ink) : 0) - degrees)).toBeLessThan(0.3);
  });

  test('of one tone has no ink', () => {
    expect(inkOf({ data: Buffer.alloc(100, 200), width: 10, height: 10 })).toBeUndefined();
  });
});
