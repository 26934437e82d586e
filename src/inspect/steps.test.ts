import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createScanner } from './detectors/scanner.ts';
import { createTermFinder } from './terms/term-finder.ts';
import { finish, type Steps } from '#/wire/document/steps.ts';

const detection = createScanner();
/** Where a step of the sweep ends, one of folding and of the search for terms, and one of the search for forms of names. */
const SWEEP = 16 * 1024;
const TERMS = 128 * 1024;
const WORDS = 4096;

function stepsOf(steps: Steps<unknown>): number {
  let count = 1;
  while (steps.next().done !== true) count++;
  return count;
}

const PIECES = [
  'mail ada@example.com, ',
  'DE89 3704 0044 0532 0130 00 ',
  '4111 1111 1111 1111 ',
  'call +49 (30) 901820 ',
  'password=hunter2hunter2 ',
  '(1)(1)(1)',
  '١٢٣ ada＠example．com ',
  'word ',
  '1',
  '\n',
  'geb. 01.02.1980 ',
];

test('a search in steps finds what a search at once finds, wherever a step ends', () => {
  const text = fc
    .tuple(fc.integer({ min: SWEEP - 80, max: SWEEP + 20 }), fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }))
    .chain(([before, pieces]) =>
      fc.constantFrom('a', '1 ', '(1)', 'é', '٣').map((filler) => {
        return filler.repeat(Math.ceil(before / filler.length)).slice(0, before) + pieces.join('');
      }),
    );
  fc.assert(
    fc.property(text, (one) => {
      expect(finish(detection.steps(one))).toEqual(detection.find(one));
    }),
    { numRuns: 150 },
  );
  expect(stepsOf(detection.steps('1 '.repeat(SWEEP * 2)))).toBeGreaterThan(3);
});

test('terms are found wherever a step ends', () => {
  const find = createTermFinder([
    { term: 'Ada Lovelace', label: 'person' },
    { term: 'Jürgen Müller', label: 'person' },
  ]);
  for (const filler of ['x', 'ä']) {
    for (let before = TERMS - 14; before <= TERMS + 1; before++) {
      const text = `${filler.repeat(before - 1)} Ada   Lovelace, Herr Mueller`;
      const found = (find?.(text) ?? []).map(({ start, end }) => text.slice(start, end));
      expect(found).toEqual(['Ada   Lovelace', 'Mueller']);
    }
  }
  expect(stepsOf(find!.steps('ä '.repeat(TERMS)))).toBeGreaterThan(3);
});

test('forms of names are found wherever a step ends', () => {
  const find = createTermFinder([{ term: 'Ada Byron Lovelace', label: 'person' }]);
  for (let before = WORDS - 3; before <= WORDS + 128 + 1; before += before < WORDS + 2 ? 1 : 25) {
    const text = `${'word '.repeat(before)}Lovelace, A. B. and then ${'word '.repeat(200)}`;
    const found = (find?.(text) ?? []).map(({ start, end }) => text.slice(start, end));
    expect(found).toEqual(['Lovelace, A. B.']);
  }
});
