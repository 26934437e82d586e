import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { skipUnless } from '../harness/skip.ts';
import { ELSEWHERE, MEASURED } from './elsewhere.ts';
import { MISSING } from './missing.ts';
import { NO_PROMISE } from './no-promise.ts';
import { page, PAGE } from './page.ts';
import { NO_SPECIFICATION, readSentences, sentencesOf } from './sentences.ts';
import { table } from './table.ts';
import { hasTest, sentencesOfFailing, testsBySentence } from './titles.ts';

const readText = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const sentences = readSentences();
const rows = table();
const known = new Set(rows.map(({ id }) => id));

describe('the specification', skipUnless(sentences.length > 0, NO_SPECIFICATION), () => {
  test('has the sentences that the table knows, in the same words', () => {
    const hashes = new Map(rows.map(({ id, hash }) => [id, hash]));
    const strange = sentences.filter(({ id, hash }) => hashes.get(id) !== hash);
    // A sentence listed here is new or was reworded: see to its test, then write its hash into hashes.ts.
    expect(strange).toEqual([]);
    expect(sentences).toHaveLength(rows.length);
  });
});

describe('the table', () => {
  test('says of every sentence what stands for it', () => {
    expect(rows.filter(({ state }) => state === 'nobody has looked').map(({ id }) => id)).toEqual([]);
  });

  test('has no test, pointer or reason for a sentence that is not there', () => {
    const lists = [ELSEWHERE, MEASURED, NO_PROMISE, MISSING].flatMap((one) => Object.keys(one));
    expect([...testsBySentence().keys(), ...lists].filter((id) => !known.has(id))).toEqual([]);
  });

  test('calls nothing a promise and none', () => {
    const promised = new Set([...testsBySentence().keys(), ...Object.keys(ELSEWHERE), ...Object.keys(MISSING)]);
    expect(Object.keys(NO_PROMISE).filter((id) => promised.has(id))).toEqual([]);
  });

  test('points at tests and bounds that are there', () => {
    const tests = Object.values(ELSEWHERE).flat();
    expect(tests.filter((one) => !hasTest(one))).toEqual([]);
    expect(hasTest({ file: 'test/spec/complete.test.ts', title: 'of which there is none' })).toBe(false);
    const bounds = Object.values(MEASURED);
    expect(bounds.filter(({ file, text }) => !readText(file).includes(text))).toEqual([]);
  });

  test('has what does not hold in words, wherever a test is to fail', () => {
    expect(sentencesOfFailing().filter((id) => MISSING[id] === undefined)).toEqual([]);
  });

  test('is on its page as it is (make spec-page writes it)', () => {
    expect(readText(PAGE)).toBe(page());
  });
});

describe('sentences', () => {
  test('are counted by section, in prose, lists and tables; headings and heads of tables are none', () => {
    const text = ['Before.', '## 1. One', 'A is `b. C`. B is c! D', '', '| a | b |', '|---|---|', '| x. Y | y |', ''];
    const more = ['### 1.1 Two', '1. First. Second.', '   - third', '12. Twelfth', '1.2 Third section'];
    const found = sentencesOf([...text, ...more].join('\n')).map((one) => `${one.id} ${one.text}`);
    expect(found).toEqual([
      '1/1 A is `b.',
      '1/2 C`.',
      '1/3 B is c!',
      '1/4 D',
      '1/5 | x. Y | y |',
      '1.1/1 First.',
      '1.1/2 Second.',
      '1.1/3 third',
      '1.1/4 Twelfth',
      '1.2/1 Third section',
    ]);
  });

  test('are others when a word changes, and the same when only space does', () => {
    const hashOf = (line: string): string | undefined => sentencesOf(`## 1. One\n${line}`)[0]?.hash;
    expect(hashOf('It  is so.')).toBe(hashOf('It is so.'));
    expect(hashOf('It is so.')).not.toBe(hashOf('It is not so.'));
  });
});
