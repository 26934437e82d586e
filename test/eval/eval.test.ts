import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Evaluation } from './evaluation.ts';
import { judged, type Goal } from './goals.ts';
import { learned } from './held-out.ts';
import { evaluateLogins, KINDS, loginPrompts, loginSentences, plainSentences, SETS } from './logins.ts';
import { casesOf, promptsOf, readWritten, unlearnedIn } from './scope-cases.ts';

describe('goals', () => {
  const rows = [
    { what: 'short', cpuP95: 40, ece: 0.05 },
    { what: 'long', cpuP95: 61, ece: 0.2 },
  ];
  const evaluation: Evaluation = { about: {}, tables: [{ title: 'Milliseconds', rows }] };
  const bound: Goal = { table: 'Milliseconds', row: { what: 'long' }, column: 'cpuP95', most: 60, isBound: true };
  const aim: Goal = { table: 'Milliseconds', column: 'ece', most: 0.1 };

  test('are met by a figure on the edge of them', () => {
    const goals = [{ ...bound, most: 61 }, { ...aim, row: { what: 'short' }, most: 0.05 }, { ...aim, least: 0.05, most: 1 }]; // prettier-ignore
    expect(judged(evaluation, goals)).toMatchObject({ goals: 4, missed: [], broken: [] });
  });

  test('fail a run where they are bounds, and are told beside the figures', () => {
    const { evaluation: told, missed, broken } = judged(evaluation, [bound, aim]);
    expect(broken).toEqual(['Milliseconds, long: cpuP95 ≤ 60, is 61']);
    expect(missed).toEqual([...broken, 'Milliseconds, long: ece ≤ 0.1, is 0.2']);
    expect(told.tables[0]?.rows).toEqual([
      { ...rows[0], goal: 'ece ≤ 0.1', is: 'met' },
      { ...rows[1], goal: 'cpuP95 ≤ 60, ece ≤ 0.1', is: 'missed, missed' },
    ]);
  });

  test.each<[string, Goal]>([
    ['a table', { ...bound, table: 'Seconds' }],
    ['a row', { ...bound, row: { what: 'wide' } }],
    ['a column', { ...bound, column: 'p95' }],
  ])('are missed without %s', (_what, goal) => {
    expect(judged(evaluation, [goal])).toMatchObject({ goals: 1, broken: [expect.any(String)] });
  });
});

describe('what the scope guard is judged by', () => {
  const written = readWritten();
  const own = path.join(import.meta.dirname, '../../inference/training/data');
  const nowhere = path.join(import.meta.dirname, 'nowhere');

  test('is in eight languages, with the same purposes in the same order', () => {
    expect([...written.keys()]).toEqual(['de', 'en', 'es', 'fr', 'it', 'nl', 'pl', 'pt']);
    const themes = [...written.values()].map(({ purposes }) => purposes.map(({ theme }) => theme));
    expect(new Set(themes.map(String)).size).toBe(1);
    const groups = Map.groupBy(casesOf(written), ({ group, language }) => `${language} ${group}`);
    expect(Math.min(...Array.from(groups.values(), ({ length }) => length))).toBeGreaterThanOrEqual(8);
  });

  test('is in nothing that training reads here', () => {
    expect(learned(unlearnedIn(written), { data: nowhere, own })).toEqual([]);
  });

  test('would be seen there', () => {
    const [prompt] = promptsOf({ own });
    const read = [prompt?.said[0]?.toUpperCase() ?? '', ' Cooking, recipes, food and restaurants.'];
    expect(learned([...read, 'Nobody wrote this.'], { data: nowhere, own }).toSorted()).toEqual(read.toSorted());
  });
});

describe('logins and passwords in sentences', () => {
  const said = loginSentences();

  test('are in eight languages, in a set for tuning, two for thresholds and one that is unseen', () => {
    const of = (set: string, kind: string): readonly string[] =>
      said.filter((one) => one.set === set && one.spans.some(({ category }) => category === kind)).map(({ language }) => language); // prettier-ignore
    for (const set of SETS) {
      for (const kind of KINDS) {
        expect(of(set, kind).length).toBeGreaterThanOrEqual(32);
        expect(new Set(of(set, kind)).size).toBe(8);
      }
    }
    expect(new Set(said.map(({ text }) => text)).size).toBe(said.length);
    expect(loginPrompts()).toHaveLength(10);
    expect(new Set(plainSentences()).size).toBe(320);
  });

  test('are found as often as they were, and none where prompts only speak of them', async () => {
    const { tables } = await evaluateLogins();
    const recall = (set: string, kind: string): number => {
      const row = tables[0]?.rows.find((one) => one['set'] === set && one['kind'] === kind);
      return Number(row?.['recall']);
    };
    for (const [set, login, password] of [
      ['tuned', 0.97, 0.95],
      ['held-out', 0.95, 0.97],
      ['fresh', 0.95, 0.95],
      ['varied', 0.9, 0.93],
      ['unseen', 0.88, 0.95],
    ] as const) {
      expect(recall(set, 'USERNAME'), set).toBeGreaterThanOrEqual(login);
      expect(recall(set, 'SECRET'), set).toBeGreaterThanOrEqual(password);
    }
    for (const row of tables[1]?.rows ?? []) expect(row, JSON.stringify(tables[3]?.rows)).toMatchObject({ wrong: 0 });
  });
});
