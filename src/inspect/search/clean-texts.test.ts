import { afterAll, expect, test } from 'vitest';
import { detectionFor, type Detection } from '../detection.ts';
import { createDetectionPool } from './detection-pool.ts';
import { withMemory } from './with-memory.ts';
import { CleanTexts } from './clean-texts.ts';

const pool = createDetectionPool();
afterAll(() => pool.close());

/** The detection, and the texts that it searched. */
function watched(): { readonly detection: Detection; readonly searched: string[] } {
  const searched: string[] = [];
  return {
    searched,
    detection: withMemory<Detection>({
      ...pool,
      findNow: (text, categories) => {
        searched.push(text);
        return pool.findNow(text, categories);
      },
      find: (texts, categories) => {
        searched.push(...texts);
        return pool.find(texts, categories);
      },
    }),
  };
}

const callOf = (organization: string, workload = 'w') => ({
  signal: new AbortController().signal,
  key: { workload: { id: workload, organization: { id: organization } } },
});
const CLEAN = 'All is quiet here today, and no name is said. '.repeat(8);
const FOUND = `${CLEAN}Write to ada@corp.de.`;
const MAIL = [{ start: FOUND.indexOf('ada'), end: FOUND.length - 1, category: 'EMAIL' }];

test('a text in which nothing was found is not searched again, and one with a find is', async () => {
  const { detection, searched } = watched();
  for (let turn = 0; turn < 3; turn += 1) {
    const scoped = detectionFor(callOf('acme'), detection);
    expect(scoped.findNow(CLEAN)).toEqual([]);
    expect(await scoped.find([FOUND, CLEAN, FOUND])).toEqual([MAIL, [], MAIL]);
  }
  expect(searched.filter((text) => text === CLEAN)).toHaveLength(1);
  expect(searched.filter((text) => text === FOUND)).toHaveLength(6);
});

test('each workload has its own, and each choice of categories', async () => {
  const { detection, searched } = watched();
  for (const call of [callOf('acme'), callOf('other'), callOf('acme', 'second')])
    await detectionFor(call, detection).find([CLEAN]);
  detectionFor(callOf('acme'), detection).findNow(CLEAN, new Set(['EMAIL']));
  detectionFor(callOf('acme'), detection).findNow(CLEAN, new Set(['EMAIL', 'IBAN']));
  expect(searched).toHaveLength(5);
  detectionFor(callOf('acme'), detection).findNow(CLEAN, new Set(['IBAN', 'EMAIL']));
  expect(searched).toHaveLength(5);
});

test('what no categories were looked for in is searched for all', () => {
  const { detection } = watched();
  const scoped = detectionFor(callOf('acme'), detection);
  expect(scoped.findNow(FOUND, new Set(['IBAN']))).toEqual([]);
  expect(scoped.findNow(FOUND)).toEqual(MAIL);
});

test('a text that was searched for nothing is searched when something is looked for', async () => {
  const { detection } = watched();
  const scoped = detectionFor(callOf('acme'), detection);
  const nothing = new Set<string>();
  expect(scoped.findNow(FOUND, nothing)).toEqual([]);
  expect(await scoped.find([FOUND], nothing)).toEqual([[]]);
  expect(scoped.findNow(FOUND)).toEqual(MAIL);
  expect(await scoped.find([FOUND])).toEqual([MAIL]);
  expect(scoped.findNow(FOUND, new Set(['EMAIL']))).toEqual(MAIL);
});

test('a text that was searched for all is searched for nothing, too', () => {
  const { detection, searched } = watched();
  const scoped = detectionFor(callOf('acme'), detection);
  for (const kinds of [undefined, new Set<string>(), new Set<string>()]) scoped.findNow(CLEAN, kinds);
  expect(searched).toHaveLength(3);
});

test('a category whose name is made of others, or is the one for all, is not them', () => {
  const { detection } = watched();
  const scoped = detectionFor(callOf('acme'), detection);
  for (const name of ['EMAIL IBAN', 'EMAIL","IBAN', 'all', ''])
    expect(scoped.findNow(FOUND, new Set([name]))).toEqual([]);
  expect(scoped.findNow(FOUND, new Set(['EMAIL', 'IBAN']))).toEqual(MAIL);
  expect(scoped.findNow(FOUND)).toEqual(MAIL);
});

test('a search that fails leaves nothing behind', async () => {
  let fails = true;
  const detection = withMemory<Detection>({
    ...pool,
    find: (texts) => (fails ? Promise.reject(new Error('too much waits')) : pool.find(texts)),
  });
  const scoped = detectionFor(callOf('acme'), detection);
  await expect(scoped.find([FOUND])).rejects.toThrow('too much waits');
  fails = false;
  expect(await scoped.find([FOUND])).toEqual([MAIL]);
});

test('texts that are short, very long or no Unicode have no digest, and the last digests are kept only', () => {
  const clean = new CleanTexts();
  expect(clean.digestOf('a', undefined, 'Hello.')).toBeUndefined();
  expect(clean.digestOf('a', undefined, 'x'.repeat(1_000_000))).toBeUndefined();
  expect(clean.digestOf('a', undefined, `${CLEAN}\ud800`)).toBeUndefined();
  expect(clean.digestOf('a', undefined, CLEAN)).toMatch(/^[\w-]{22}$/);
  expect(clean.digestOf('a', undefined, CLEAN)).not.toBe(new CleanTexts().digestOf('a', undefined, CLEAN));
  for (let at = 0; at < 100_000; at += 1) clean.add(`digest ${at}`);
  expect(clean.has('digest 0')).toBe(false);
  expect(clean.has('digest 99999')).toBe(true);
  expect(clean.has('digest 85000')).toBe(true);
});
