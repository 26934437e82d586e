import { expect, inject, test } from 'vitest';
import { randomFor } from '../harness/random.ts';
import { answerCodecs, requestCodecs } from './codecs.ts';
import { fuzzDocuments } from './documents.ts';
import { evidenceTargets } from './evidence.ts';
import { fuzzHttp1Answers, readCut } from './http1-answers.ts';
import { fuzzHttp1Connections } from './http1-connections.ts';
import { madeAnswer } from './http1-made.ts';
import { readSlowly } from './http1-reference.ts';
import { fuzzAnswers, fuzzRequests } from './http-targets.ts';
import { fuzzPure } from './pure-run.ts';
import { law, type PureTarget } from './pure-target.ts';
import { resources } from './resources.ts';

/** A short form of every fuzz target, with a seed that stays; `make fuzz` goes on for longer with others. */

const SEED = 20_261_122;
const short = (attempts: number) => ({ seed: SEED, seconds: 600, attempts });

test.each([requestCodecs, answerCodecs])('$name hold their laws', async (target) => {
  expect((await fuzzPure(target, short(4_000))).faults).toEqual([]);
});

test('resources are compiled or refused', async () => {
  expect((await fuzzPure(resources, short(1_000))).faults).toEqual([]);
});

test('changed exports and proofs are told from those that are intact', async () => {
  for (const target of await evidenceTargets(inject('databaseUrl'))) {
    expect((await fuzzPure(target, short(1_500))).faults).toEqual([]);
  }
});

test.each([
  ['requests', fuzzRequests],
  ['answers', fuzzAnswers],
])('changed %s hold every law of a call', async (_name, fuzz) => {
  const servers = { redisUrl: inject('redisUrl'), databaseUrl: inject('databaseUrl') };
  const { attempts, faults } = await fuzz(short(3_000), servers);
  expect(faults).toEqual([]);
  expect(attempts).toBe(3_000);
});

test('changed documents are rewritten without what is personal in them, or refused', async () => {
  const { attempts, faults, outcomes } = await fuzzDocuments(short(60));
  expect(faults).toEqual([]);
  expect(attempts).toBe(60);
  // Changes that break every document would prove nothing about those that can be read.
  expect(outcomes?.['done']).toBeGreaterThan(30);
});

test('answers of hostile servers are read as they are, or refused, wherever they are cut', async () => {
  const { attempts, faults, outcomes } = await fuzzHttp1Answers(short(6_000));
  expect(faults).toEqual([]);
  expect(attempts).toBe(6_000);
  for (const outcome of ['answer', 'broken', 'cut', 'waiting']) expect(outcomes?.[outcome]).toBeGreaterThan(300);
});

test('an answer is read alike at every single cut', () => {
  for (let number = 0; number < 60; number++) {
    const { bytes } = madeAnswer(randomFor(SEED, `cut ${number}`), 'POST');
    const wanted = readSlowly('POST', bytes, true);
    for (let at = 0; at <= Math.min(bytes.length, 1_500); at++) {
      expect(readCut('POST', [bytes.subarray(0, at), bytes.subarray(at)], true)).toEqual(wanted);
    }
  }
});

test('every request is told its own answer, or a typed fault, by a server that says more and closes at will', async () => {
  const { attempts, faults, outcomes } = await fuzzHttp1Connections(short(1_500));
  expect(faults).toEqual([]);
  expect(attempts).toBe(1_500);
  for (const outcome of ['told', 'reset', 'protocol']) expect(outcomes?.[outcome]).toBeGreaterThan(50);
});

test('a broken law is found and told with its input', async () => {
  const target: PureTarget = {
    name: 'broken',
    corpus: async () => [Buffer.from('{"a":1}')],
    run: (data) => law(!data.includes('null'), 'there is a null'),
  };
  const { faults } = await fuzzPure(target, short(2_000));
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain('there is a null');
});
