import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LOADERS } from '../../inference/decide/loaders.ts';
import { readModelFolder, type ModelKind } from '../../inference/decide/manifest.ts';

const ROOT = join(import.meta.dirname, '../..');
/** As `tools/setup.sh training` installs it. */
const PYTHON = join(ROOT, '.tools/training/bin/python');
const TIME_MS = 300_000;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatewarden-training-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Trains on a handful of texts of our own, and says where the model is. */
async function train(kind: ModelKind, name: string): Promise<string> {
  const out = join(folder, name);
  await promisify(execFile)(PYTHON, ['-m', `${kind}.train`, '--smoke', '--data', join(folder, 'none'), '--out', out], {
    cwd: ROOT,
    env: {
      PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
      PYTHONPATH: join(ROOT, 'inference/training'),
      OMP_NUM_THREADS: '1',
    },
  });
  return out;
}

/** What a manifest says: the SHA-256 of every file, and the figures that training ended with. */
function manifestOf(out: string): unknown {
  return JSON.parse(readFileSync(join(out, 'manifest.json'), 'utf8'));
}

const number = expect.any(Number) as unknown;
/** What each model is asked, and what an answer of it looks like, whatever it has learned in a minute. */
const ASKED: readonly (readonly [kind: ModelKind, input: object, like: object])[] = [
  ['names', { texts: ['Ada Lovelace of Acme, 12 Ringstrasse, Vienna'] }, { spans: [expect.any(Array) as unknown] }],
  [
    'router',
    { request: 'Write a poem about rain.' },
    { reasoning: number, complexity: Array<unknown>(4).fill(number), task: expect.any(Object) as unknown },
  ],
  [
    'typed',
    {
      state: 'It burns!',
      questions: [{ type: 'noul', instructions: 'It is urgent.', options: [{ name: 'true' }, { name: 'false' }] }],
    },
    { answers: [{ probabilities: [number, number], answer_confidence: number }] },
  ],
];

test.each(ASKED)(
  'the model of %s is trained by its command, alike each time, and the runtime takes it',
  { timeout: TIME_MS },
  async (kind, input, like) => {
    const [first, second] = await Promise.all([train(kind, `${kind}-first`), train(kind, `${kind}-second`)]);
    expect(manifestOf(second)).toEqual(manifestOf(first));
    const answer = await LOADERS[kind](await readModelFolder(first, kind));
    expect(await answer(input)).toEqual(like);
  },
);
