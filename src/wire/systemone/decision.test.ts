import { expect, test } from 'vitest';
import { answerOf, routerAnswers } from './answers.ts';
import { decisionOf } from './decision.ts';

test.each([
  ['needs nothing', 0.1, [0.5, 0.3, 0.1, 0.1], { route: 'fast', demand: 'low' }],
  ['of middling size', 0.1, [0.1, 0.1, 0.6, 0.2], { route: 'balanced', demand: 'medium' }],
  ['large, without reasoning', 0.4, [0, 0, 0.4, 0.6], { route: 'balanced', demand: 'high' }],
  ['needs reasoning', 0.9, [0.1, 0.1, 0.1, 0.7], { route: 'reasoning', demand: 'high' }],
  ['needs reasoning and little else', 0.6, [0.3, 0.3, 0.3, 0.1], { route: 'reasoning', demand: 'low' }],
  ['of unknown size', 0.1, [0.2, 0.2, 0.3, 0.3], null],
  ['of just enough', 0.1, [0.25, 0.25, 0.25, 0.25], { route: 'fast', demand: 'low' }],
  ['may need reasoning', 0.5, [1, 0, 0, 0], null],
  ['may not need it', 0.41, [1, 0, 0, 0], null],
])('decides about a request that %s', (_what, reasoning, complexity, decision) => {
  expect(decisionOf({ reasoning, complexity })).toEqual(decision);
});

test('a choice is that of the likeliest option, by the name the client gave it', () => {
  const said = { probabilities: [0.1, 0.7, 0.2], answerConfidence: 0.6 };
  expect(answerOf({ type: 'choice', named: ['a', '__proto__', '[c]'] }, said)).toEqual({
    type: 'choice',
    choice: '__proto__',
    probabilities: Object.fromEntries([['a', 0.1], ['__proto__', 0.7], ['[c]', 0.2]]), // prettier-ignore
    confidence: expect.closeTo(0.55, 10) as number,
    answer_confidence: 0.6,
  });
});

test('a score is the level to be expected', () => {
  const said = { probabilities: [0, 0.5, 0.5], answerConfidence: undefined };
  expect(answerOf({ type: 'score', named: ['no', 'some', 'all'] }, said)).toEqual({
    type: 'score',
    score: 1.5,
    legend: { 0: 'no', 1: 'some', 2: 'all' },
    probabilities: { 0: 0, 1: 0.5, 2: 0.5 },
    confidence: expect.closeTo(0.25, 10) as number,
  });
});

test.each([
  [[1, 0], 1],
  [[0.5, 0.5], 0],
  [[0.25, 0.75], 0.5],
])('confidence in a proposition of %j is %d', (probabilities, confidence) => {
  const answer = answerOf({ type: 'noul', named: [] }, { probabilities, answerConfidence: undefined });
  expect(answer).toEqual({ type: 'noul', noul: probabilities[0], confidence });
});

test('the router answers questions of its own', () => {
  const answers = routerAnswers({ reasoning: 0.25, complexity: [0, 1, 0, 0], task: { code: 0.9, action: 0.1 } });
  expect(answers).toEqual({
    reasoning: { type: 'noul', noul: 0.25, confidence: 0.5 },
    complexity: {
      type: 'score',
      score: 1,
      legend: { 0: 'trivial', 1: 'simple', 2: 'moderate', 3: 'hard' },
      probabilities: { 0: 0, 1: 1, 2: 0, 3: 0 },
      confidence: 1,
    },
    task: {
      type: 'choice',
      choice: 'code',
      probabilities: { code: 0.9, action: 0.1 },
      confidence: expect.closeTo(0.8, 10) as number,
    },
  });
});
