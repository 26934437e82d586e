import { expect, test } from 'vitest';
import type { Part } from './canonical.ts';
import { Turns } from './collect-turns.ts';

const text = (words: string): Part => ({ type: 'text', text: words });
const result = (id: string): Part => ({ type: 'tool-result', id, parts: [], isError: false });

test('neighbours of one role are one turn, results of tools before the rest of it', () => {
  const turns = new Turns();
  turns.add('user', [text('a')]);
  turns.add('assistant', []);
  turns.add('user', [text('b')]);
  turns.add('assistant', [text('c')]);
  turns.add('user', [result('1'), text('d')]);
  turns.add('user', [result('2')]);
  expect(turns.list).toEqual([
    { role: 'user', parts: [text('a'), text('b')] },
    { role: 'assistant', parts: [text('c')] },
    { role: 'user', parts: [result('1'), result('2'), text('d')] },
  ]);
});
