import { expect, test } from 'vitest';
import { withoutGrain } from './grain.ts';

const WIDTH = 300;
const HEIGHT = 200;

/** Paper with a black bar across, and `noise` tones of grain, the same each time. */
function paperWith(noise: number): { readonly data: Buffer; readonly width: number; readonly height: number } {
  const data = Buffer.alloc(WIDTH * HEIGHT, 220);
  data.fill(20, WIDTH * 90, WIDTH * 100);
  let seed = 5;
  for (let at = 0; at < data.length; at++) {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    data[at] = (data[at] ?? 0) + Math.round((((seed >> 8) % 201) / 100 - 1) * noise);
  }
  return { data, width: WIDTH, height: HEIGHT };
}

/** Mean distance of the rows from one on to the tone they were printed in. */
function roughness(data: Buffer, from: number, rows: number, tone: number): number {
  const part = data.subarray(from * WIDTH + 1, (from + rows) * WIDTH - 1);
  return part.reduce((sum, value) => sum + Math.abs(value - tone), 0) / part.length;
}

test('grain goes, and print stays where it was', () => {
  const grainy = paperWith(20);
  const { data } = withoutGrain(grainy);
  expect(roughness(data, 10, 60, 220)).toBeLessThan(roughness(grainy.data, 10, 60, 220) * 0.6);
  for (const [from, tone] of [
    [89, 220],
    [90, 20],
    [99, 20],
    [100, 220],
  ] as const)
    expect(roughness(data, from, 1, tone)).toBeLessThan(20);
});

test('smooth paper is left as it is, and so is what is too small', () => {
  for (const grey of [paperWith(0), paperWith(1), { data: Buffer.from([1, 200, 3]), width: 3, height: 1 }])
    expect(withoutGrain(grey)).toBe(grey);
});
