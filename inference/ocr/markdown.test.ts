import { describe, expect, test } from 'vitest';
import type { Line, Word } from '../page/page.ts';
import { toMarkdown } from './markdown.ts';

interface Written {
  readonly text: string;
  readonly x?: number;
  readonly y: number;
  readonly block?: number;
  readonly size?: number;
  readonly bold?: boolean;
  readonly confidence?: number;
}

/** A line as a format gives it; letters are half as wide as high, two blanks or more are a gap between cells. */
function line({ text, x = 50, y, block = 0, size = 10, bold = false, confidence = 1 }: Written): Line {
  const words: Word[] = [];
  for (const found of text.matchAll(/\S+/g)) {
    const x0 = x + (found.index * size) / 2;
    const box = { x0, y0: y, x1: x0 + (found[0].length * size) / 2, y1: y + size };
    words.push({ text: found[0], box, confidence, size, bold });
  }
  return { words, block, box: { x0: x, y0: y, x1: words.at(-1)?.box.x1 ?? x, y1: y + size } };
}

const PROSE = 'the sun came up over the hills and nobody was there to see it';
const prose = (y: number, block: number): Line => line({ text: PROSE, y, block });

describe('markdown of a page', () => {
  test('nothing is nothing', () => {
    expect(toMarkdown([])).toBe('');
    expect(toMarkdown([line({ text: '~', y: 0, confidence: 0.1 })])).toBe('');
  });

  test('headings by the size of letters, and by being bold and alone', () => {
    const lines = [
      line({ text: 'The whole in C #', y: 0, size: 20 }),
      line({ text: 'A part', y: 40, block: 1, size: 14 }),
      prose(70, 2),
      prose(82, 2),
      line({ text: 'Another part', y: 110, block: 3, bold: true }),
      prose(130, 4),
      line({ text: 'bold but a sentence.', y: 160, block: 5, bold: true }),
    ];
    expect(toMarkdown(lines)).toBe(
      [
        '# The whole in C \\#',
        '## A part',
        `${PROSE} ${PROSE}`,
        '### Another part',
        PROSE,
        'bold but a sentence.',
      ].join('\n\n'),
    );
  });

  test('a heading of two lines is one', () => {
    const lines = [
      line({ text: 'A long title that', y: 0, size: 20 }),
      line({ text: 'needs two lines', y: 24, size: 20 }),
      prose(60, 1),
      prose(72, 1),
    ];
    expect(toMarkdown(lines)).toBe(`# A long title that needs two lines\n\n${PROSE} ${PROSE}`);
  });

  test('words that were cut are whole, in the next column too; a hyphen before a capital is its own', () => {
    const lines = [
      line({ text: 'the har-', y: 0 }),
      line({ text: 'bour of Nord-', y: 12 }),
      line({ text: 'Ost and the wea-', y: 24 }),
      line({ text: 'ther there', y: 0, x: 400, block: 1 }),
    ];
    expect(toMarkdown(lines)).toBe('the harbour of Nord-Ost and the weather there');
  });

  test('paragraphs: another block, a wide gap, a line that stands in after a short one', () => {
    const lines = [
      prose(0, 0),
      line({ text: 'and then it set', y: 12 }),
      line({ text: PROSE, x: 65, y: 24 }),
      prose(36, 0),
      prose(80, 0),
      prose(92, 1),
    ];
    expect(toMarkdown(lines)).toBe([`${PROSE} and then it set`, `${PROSE} ${PROSE}`, PROSE, PROSE].join('\n\n'));
  });

  test('lists: bullets, their second lines, lists within lists, numbers', () => {
    const lines = [
      line({ text: '• one', y: 0 }),
      line({ text: 'goes on', x: 60, y: 12 }),
      line({ text: '◦ within', x: 70, y: 24, block: 1 }),
      line({ text: '* two', y: 36, block: 2 }),
      line({ text: '1. first', y: 60, block: 3 }),
      line({ text: '2) second', y: 72, block: 3 }),
    ];
    expect(toMarkdown(lines)).toBe('- one goes on\n   - within\n- two\n1. first\n2. second');
  });

  test('what a recognizer takes bullets for is one only among others; words and dates stay', () => {
    expect(toMarkdown([line({ text: 'e apples', y: 0 }), line({ text: 'e pears', y: 12 })])).toBe('- apples\n- pears');
    expect(toMarkdown([line({ text: 'e poi dopo', y: 0 })])).toBe('e poi dopo');
    expect(toMarkdown([line({ text: '7. Juni war schön', y: 0 })])).toBe('7\\. Juni war schön');
  });

  test('tables: aligned cells in rows, whole or a block each column, cells that go on', () => {
    const rows = ['Item          Pieces    Price', 'Tiles         1,200     3.50', 'Paint | red   18        7.25'];
    const whole = rows.map((text, row) => line({ text, y: row * 14 }));
    const table =
      '| Item | Pieces | Price |\n| --- | --- | --- |\n| Tiles | 1,200 | 3.50 |\n| Paint \\| red | 18 | 7.25 |';
    expect(toMarkdown(whole)).toBe(table);
    const columns = [0, 14, 24].flatMap((from, block) =>
      rows.map((text, row) => {
        const cell = text.slice(from, [14, 24, 40][block]).trim();
        return line({ text: cell, x: 50 + from * 5, y: row * 14, block });
      }),
    );
    expect(toMarkdown(columns)).toBe(table);
    const longer = [...whole, line({ text: 'gold', x: 170, y: 40, block: 1 })];
    expect(toMarkdown(longer)).toContain('| 18 | 7.25 gold |');
  });

  test('two columns of a text are no table', () => {
    const left = [0, 12, 24, 36].map((y) => line({ text: 'the sun came up over hills again', y }));
    const right = [0, 12, 24, 36].map((y) => line({ text: 'nobody was there to see it at all', x: 400, y, block: 1 }));
    const markdown = toMarkdown([...left, ...right]);
    expect(markdown).not.toContain('|');
    expect(markdown.split('\n\n')).toHaveLength(2);
  });

  test.each([
    ['# no heading', '\\# no heading'],
    ['- no item', '- no item'],
    ['> no quote', '\\> no quote'],
    ['+ no item', '\\+ no item'],
    ['---', '\\---'],
    ['1) alone', '1\\) alone'],
    ['a_b *c* `d` [e](f) <g> ~~h~~ \\ i|j', 'a\\_b \\*c\\* \\`d\\` \\[e\\](f) \\<g\\> \\~\\~h\\~\\~ \\\\ i\\|j'],
    ['R&D &amp; &#65;', 'R&D \\&amp; \\&#65;'],
    ['![x](http://evil.example)', '!\\[x\\](http://evil.example)'],
  ])('%s is text', (text, expected) => {
    expect(toMarkdown([line({ text, y: 0 })])).toBe(expected);
  });

  test('figures stand where they are: in their column, between, above, below, alone', () => {
    const figure = (id: string, x0: number, y0: number) => ({ id, box: { x0, y0, x1: x0 + 100, y1: y0 + 50 } });
    const lines = [
      prose(100, 0),
      prose(300, 1),
      line({ text: 'beside it some words in another column', x: 500, y: 100, block: 2 }),
    ];
    const figures = [figure('top', 60, 10), figure('mid', 60, 200), figure('right', 520, 200), figure('end', 60, 400)];
    expect(toMarkdown(lines, figures)).toBe(
      [
        '![top](top)',
        PROSE,
        '![mid](mid)',
        PROSE,
        '![end](end)',
        'beside it some words in another column',
        '![right](right)',
      ].join('\n\n'),
    );
    expect(toMarkdown([], [figure('img-0.jpeg', 0, 0)])).toBe('![img-0.jpeg](img-0.jpeg)');
  });
});
