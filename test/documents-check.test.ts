import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decisionFaults, indexFaults } from '../tools/decisions.ts';
import { phrasesIn, proseOf } from '../tools/phrases.ts';
import { badAnchors, longLines } from '../tools/prose.ts';
import { countNow, excess, lowered, type Ratchet } from '../tools/ratchet.ts';
import { readmeFaults } from '../tools/room-readmes.ts';
import { identifiersWith } from '../tools/words.ts';

const ROOT = join(import.meta.dirname, '..');

describe('prose', () => {
  test('wraps at 120 characters, outside of tables, headings and code', () => {
    const words = 'word '.repeat(30).trim();
    const doc = (text: string) => longLines({ path: 'a.md', text });
    expect(doc(`# A\n\n${words}\n`)).toEqual(['a.md:3: 149 characters; wrap prose at 120']);
    expect(doc(`| ${words} |\n# ${words}\n\n\`\`\`sh\n${words}\n\`\`\`\n`)).toEqual([]);
  });

  test('links to headings that exist', () => {
    const there = '# One\n\n## `gw/ocr`: what it reads, and how\n';
    const anchors = (text: string) =>
      badAnchors({ path: 'docs/a.md', text }, (path) => (path === 'docs/b.md' ? there : undefined));
    expect(anchors('[b](b.md#gwocr-what-it-reads-and-how), [b](b.md#one), [gone](c.md#x)\n')).toEqual([]);
    expect(anchors('# A\n[a](#a) [b](b.md#two)\n')).toEqual(['docs/a.md:2: the link to b.md#two leads to no heading']);
  });
});

describe('a decision', () => {
  const good =
    '# 0001. Do it\n\n- Status: accepted\n- Date: 2026-11-21\n\n## Context\n\nA.\n\n## Decision\n\nB `c. D`.\n\n## Consequences\n\nE.\n';
  const faults = (text: string) => decisionFaults({ path: 'd/0001-do-it.md', text });

  test('has title, status, date and sections', () => {
    expect(faults(good)).toEqual([]);
    expect(faults(good.replace('accepted', 'superseded by [0002](0002-other.md)'))).toEqual([]);
    expect(faults(good.replace('accepted', 'old'))).toHaveLength(1);
    expect(faults(good.replace('2026-11-21', 'soon'))).toHaveLength(1);
    expect(faults(good.replace('## Decision', '## Choice'))).toHaveLength(1);
    expect(faults(good.replace('0001. Do', '0002. Do'))).toHaveLength(1);
    expect(faults(good.replace('0001. Do it', 'Do it.'))).toHaveLength(2);
  });

  test('has one sentence a line', () => {
    expect(faults(good.replace('A.', 'A. Then B.'))).toEqual(['d/0001-do-it.md:8: one sentence a line']);
  });

  test('is in the index under its title', () => {
    const decisions = [{ path: 'd/0001-do-it.md', text: good }];
    expect(indexFaults({ path: 'd/README.md', text: '- [0001. Do it](0001-do-it.md)\n' }, decisions)).toEqual([]);
    expect(indexFaults({ path: 'd/README.md', text: '' }, decisions)).toHaveLength(1);
  });
});

describe('phrases and words that are not used', () => {
  const allowed: Ratchet = { phrases: { docs: { nobody: 1 } }, words: {} };
  const of = (count: number): Ratchet => ({ phrases: { docs: { nobody: count } }, words: {} });

  test('are found in comments, texts and documents, not in names', () => {
    expect(proseOf('a.ts', `const nobody = 'x'; // Nobody reads\nconst b = 'nobody reads';`)).not.toContain('const');
    expect([...phrasesIn('Nobody reads this any more, whoever wrote it.').keys()].toSorted()).toEqual([
      'any more',
      'nobody',
      'whoever',
    ]);
    expect(identifiersWith(['door', 'Visit'], 'mountDoors(DOORS); new Visit(visitor); // door\n"door"')).toEqual(
      new Map([
        ['door', 2],
        ['Visit', 1],
      ]),
    );
  });

  test('may become fewer, and not more', () => {
    expect(excess(allowed, of(1))).toEqual([]);
    expect(excess(allowed, of(2))).toHaveLength(1);
    expect(lowered(allowed, of(2))).toEqual(allowed);
    expect(lowered(of(3), of(1))).toEqual(of(1));
  });

  test('are no more in the repository than tools/ratchet.json says', () => {
    const ratchet = JSON.parse(readFileSync(join(ROOT, 'tools/ratchet.json'), 'utf8')) as Ratchet;
    expect(excess(ratchet, countNow(ROOT))).toEqual([]);
  });
});

test('rooms and suites have a README, that of a room short and with all its parts', () => {
  const text = '# A\n\nDoes.\n\n- **Never:** a\n- **In, out:** b\n- **Start at:** c\n- **Tests:** d\n';
  expect(readmeFaults([{ folder: 'src/a', text }])).toEqual([]);
  expect(readmeFaults([{ folder: 'test/a', text: undefined }])).toHaveLength(1);
  expect(readmeFaults([{ folder: 'src/a', text: text.replace('**Tests:**', '') }])).toHaveLength(1);
  expect(readmeFaults([{ folder: 'src/a', text: `${text}${'x\n'.repeat(5)}` }])).toHaveLength(1);
});
