import { expect, test } from 'vitest';
import type { Line } from '../page/page.ts';
import { splitColumns } from './columns.ts';
import { textOf } from './written-language.ts';

/** Letters are half as wide as high. */
function line(text: string, row: number, block = 0): Line {
  const words = [...text.matchAll(/\S+/g)].map((found) => ({
    text: found[0],
    confidence: 1,
    size: 10,
    box: { x0: found.index * 5, y0: row * 12, x1: (found.index + found[0].length) * 5, y1: row * 12 + 10 },
  }));
  return { block, words, box: { x0: 0, y0: row * 12, x1: text.length * 5, y1: row * 12 + 10 } };
}

const LEFT = ['the sun came up over hills', 'and nobody was there at all', 'to see it rise that morning', 'but birds.'];
const RIGHT = ['another story begins over here', 'with a river and its old mill', 'where people used to bake'];

test('columns whose lines were taken for one are read one after the other, in blocks of their own', () => {
  const lines = [
    line('A heading over both of them that is long enough to cross the gutter', 0),
    ...LEFT.map((text, row) => line(`${text.padEnd(34)}${RIGHT[row] ?? ''}`, row + 1, 1)),
    line('A line below both of them that is long enough to cross the gutter', 6, 2),
  ];
  const split = splitColumns(lines);
  expect(textOf(split).split('\n')).toEqual([textOf(lines.slice(0, 1)), ...LEFT, ...RIGHT, textOf(lines.slice(-1))]);
  expect(split.map(({ block }) => block)).toEqual([1, 2, 2, 2, 2, 3, 3, 3, 4]);
  expect(split[5]?.box.x0).toBe(34 * 5);
});

test('three columns', () => {
  const lines = RIGHT.map((text, row) => line(text.padEnd(34) + text.padEnd(34) + text, row));
  expect(textOf(splitColumns(lines)).split('\n')).toEqual([...RIGHT, ...RIGHT, ...RIGHT]);
});

test('rows of a table, two lines, and text without a gutter stay', () => {
  for (const lines of [
    ['Item          Pieces', 'Tiles         1,200', 'Paint         18', 'Glass         3'].map((text, row) =>
      line(text, row),
    ),
    LEFT.slice(0, 2).map((text, row) => line(text.padEnd(34) + text, row)),
    LEFT.map((text, row) => line(`${text} ${text}`, row)),
    [],
  ]) {
    expect(textOf(splitColumns(lines))).toBe(textOf(lines));
  }
});
