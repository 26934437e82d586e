import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { MODEL_CALL } from '#/pipeline/model-call.ts';
import { TOOL_CALL } from '#/pipeline/tool-call.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = 'docs/internals/architecture.md';
const PICTURE = 'docs/images/one-call.svg';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The names of the steps of a model call in their order, and where a row says that a call ended in them. */
function stepsOfTheCode(): readonly (readonly [name: string, row: string])[] {
  return MODEL_CALL.list.map(({ at, run }) => [run.name, at]);
}

/** The first two cells of each row of the table under a heading of the page. */
function cellsUnder(heading: string): readonly (readonly [string, string])[] {
  const [, section = ''] = read(PAGE).split(`## ${heading}\n`);
  const [table = ''] = section.split('\n## ');
  return [...table.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)].map(([, name = '', row = '']) => [name, row]);
}

describe('the page that follows one call', () => {
  const steps = stepsOfTheCode().map(([name]) => name);

  test('lists every step of a model call in its order, and no other', () => {
    expect(steps.length).toBeGreaterThan(5);
    expect(cellsUnder('The steps of a model call')).toEqual(stepsOfTheCode());
  });

  test('lists every step of a call of a tool in its order, and no other', () => {
    const steps = TOOL_CALL.list.map(({ at, run }) => [run.name, at]);
    expect(cellsUnder('The steps of a tool call')).toEqual(steps);
  });

  test('draws steps of the code, numbered in their order', () => {
    const drawn = [...read(PICTURE).matchAll(/>(\d) (\w+)</g)].map(([, number, name]) => ({ number, name }));
    expect(drawn.length).toBeGreaterThan(5);
    expect(new Set(drawn.map(({ number }) => number))).toEqual(new Set(drawn.map((_, at) => String(at + 1))));
    expect(drawn.map(({ name }) => name).filter((name) => !steps.includes(name ?? ''))).toEqual([]);
    const order = drawn.toSorted((a, b) => Number(a.number) - Number(b.number)).map(({ name }) => name);
    expect(order).toEqual(steps.filter((step) => order.includes(step)));
  });

  test('has a row for every room', () => {
    const rooms = globSync('src/*/', { cwd: ROOT }).map((path) => path.replace(/^src\/|\/$/g, ''));
    const page = read(PAGE);
    const [, section = ''] = page.split('## Rooms and who may import whom\n');
    const missing = rooms.filter((room) => !['main', 'cli'].includes(room) && !section.includes(`\`${room}\``));
    expect(missing).toEqual([]);
  });
});
