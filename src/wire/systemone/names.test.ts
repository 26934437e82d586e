import { expect, test } from 'vitest';
import { readDocument, render, setString, type WireDocument } from '../document/document.ts';
import type { Json } from '../document/json.ts';
import { collectContents } from '../request/collect-contents.ts';
import { textPlaces } from '../hub/plain-codec.ts';
import { ownNames, tellApart } from './names.ts';

/** A request as sent: every capital that data protection knows becomes the same mark. */
function rewritten(request: WireDocument): string {
  const leaves = collectContents(request, textPlaces()).leaves.filter(({ text }) => /[A-W]/.test(text));
  const edits = leaves.map(({ node, text }) => setString(node, text.replace(/[A-W]/g, '[X]')));
  return render(request.text, tellApart(request, edits));
}
const requestOf = (state: Json, questions: Json): WireDocument =>
  readDocument('systemone', JSON.stringify({ model: 'gw/typed', state, questions }));
const choice = (...criteria: readonly Json[]): Json => ({ type: 'choice', instructions: 'Which?', criteria });

test('members that read the same are numbered, at any depth', () => {
  const state = [{ A: 1, B: 2, '[X] 2': 3, C: { D: 4, E: [{ F: 5, G: 6 }] } }];
  const sent = JSON.parse(rewritten(requestOf(state, {}))) as { state: unknown };
  expect(sent.state).toEqual([
    { '[X]': 1, '[X] 3': 2, '[X] 2': 3, '[X] 4': { '[X]': 4, '[X] 2': [{ '[X]': 5, '[X] 2': 6 }] } },
  ]);
});

test('options that read the same are refused, in a list as in an object', () => {
  const refused = { message: expect.stringContaining('data protection') as string, status: 400, param: 'questions' };
  for (const criteria of [['A', 'B'], ['A', 'X'], { A: null, B: 'b' }, { A: null, '[X]': null }]) {
    const request = requestOf('s', { q: { type: 'choice', instructions: 'Which?', criteria } });
    expect(() => rewritten(request)).toThrow(expect.objectContaining(refused) as Error);
  }
});

test('an answer has the names of its request, and other words are left alone', () => {
  const request = requestOf('s', {
    10: choice('A', { B: 1 }, 'c'),
    B: { type: 'score', instructions: 'How much?', criteria: ['none', 'all A'] },
    C: { type: 'noul', instructions: 'Is it?' },
  });
  const answers = {
    '[X] 2': { type: 'noul', noul: 1 },
    '[X]': { type: 'score', legend: { 0: 'none', 1: 'all [X]' }, probabilities: { 0: 0, 1: 1 } },
    10: { type: 'choice', choice: '[X]', probabilities: { '{"[X]":1}': 0, '[X]': 1, c: 0 }, note: '[X]' },
    other: { type: 'choice', choice: '[X]' },
  };
  const answer = readDocument('systemone', JSON.stringify({ model: '[X]', answers }));
  expect(JSON.parse(render(answer.text, ownNames(answer, request, rewritten(request))))).toEqual({
    model: '[X]',
    answers: {
      C: { type: 'noul', noul: 1 },
      B: { type: 'score', legend: { 0: 'none', 1: 'all A' }, probabilities: { 0: 0, 1: 1 } },
      10: { type: 'choice', choice: 'A', probabilities: { '{"B":1}': 0, A: 1, c: 0 }, note: '[X]' },
      other: { type: 'choice', choice: '[X]' },
    },
  });
});

test('without questions there are no names', () => {
  const request = readDocument('systemone', '{"model":"gw/typed/router","state":"s"}');
  const answer = readDocument('systemone', '{"answers":{"task":{"type":"choice","choice":"code"}}}');
  expect(ownNames(answer, request, request.text)).toEqual([]);
});
