import { request } from 'node:http';
import { rmSync, writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LOADERS } from '../../inference/decide/loaders.ts';
import { ModelFault, readModelFolder } from '../../inference/decide/manifest.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { writeModels, type ModelFolders } from '../harness/model-folders.ts';

interface Told {
  readonly kind: string;
  readonly revision: string | null;
  readonly fault: string | null;
}

async function modelsOf({ url }: EngineProcess): Promise<Readonly<Record<string, Told>>> {
  const { models } = (await (await fetch(`${url}/v1/models`)).json()) as { models: readonly Told[] };
  return Object.fromEntries(models.map((model) => [model.kind, model]));
}

async function settled(engine: EngineProcess): Promise<Readonly<Record<string, Told>>> {
  for (;;) {
    const models = await modelsOf(engine);
    if (!Object.values(models).some(({ fault }) => fault === 'loading')) return models;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function post({ url }: EngineProcess, kind: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${url}/v1/${kind}`, { method: 'POST', body: text, ...(signal && { signal }) });
}

const HASH = '0'.repeat(64);
/** A text whose names take far longer to find than an answer may. */
const SLOW = { texts: ['word '.repeat(40_000)] };
const FAST = { texts: ['Ada'] };

describe('models that are as their manifests say', () => {
  let folders: ModelFolders;
  let engine: EngineProcess;
  beforeAll(async () => {
    folders = writeModels();
    engine = await startDocumentEngine({ GW_MODELS_DIR: folders.dir });
    await settled(engine);
  });
  afterAll(async () => {
    await engine.stop();
    folders[Symbol.dispose]();
  });

  test('are told of with the hash of their weights', async () => {
    const models = await modelsOf(engine);
    const manifest = JSON.parse(readFileSync(join(folders.dir, 'names/manifest.json'), 'utf8')) as {
      files: Record<string, string>;
    };
    const revision = manifest.files['model.onnx'];
    expect(models['names']).toEqual({ kind: 'names', installed: true, revision, fault: null });
    expect(models['router']).toMatchObject({ fault: null });
    expect(models['typed']).toMatchObject({ installed: false });
    expect(models['typed']?.fault).toContain('manifest.json: cannot be read');
    const ready = await (await fetch(`${engine.url}/readyz`)).text();
    expect(ready).toContain('\nmodel names: ok\n');
    expect(await engine.metric('gw_inference_model_ready{model="names"}')).toBe(1);
    expect(await engine.metric('gw_inference_model_ready{model="typed"}')).toBe(0);
  });

  test('find names where they stand, in UTF-16', async () => {
    const answer = await post(engine, 'names', {
      texts: ['😀 Ada Lovelace wrote', '', 'nobody', 'from Paris to Acme, Ringstrasse'],
    });
    expect(answer.status).toBe(200);
    const { spans, revision } = (await answer.json()) as {
      spans: readonly (readonly [number, number, string, number][])[];
      revision: string;
    };
    expect(spans.map((list) => list.map((span) => span.slice(0, 3)))).toEqual([
      [[3, 15, 'PERSON_NAME']],
      [],
      [],
      [
        [5, 10, 'LOCATION'],
        [14, 18, 'ORGANIZATION'],
        [20, 31, 'ADDRESS'],
      ],
    ]);
    for (const [, , , score] of spans.flat()) expect(score).toBeGreaterThan(0.9);
    expect(revision).toBe((await modelsOf(engine))['names']?.revision);
  });

  test('judge prompts', async () => {
    const judged = await (await post(engine, 'router', { request: '```\nx\n```', attachments: [] })).json();
    const { reasoning, complexity, task } = judged as {
      reasoning: number;
      complexity: readonly number[];
      task: Record<string, number>;
    };
    expect(reasoning).toBeGreaterThan(0.9);
    expect(complexity[3]).toBeGreaterThan(0.9);
    expect(complexity.reduce((sum, p) => sum + p)).toBeCloseTo(1, 5);
    expect(task['code']).toBeGreaterThan(0.9);
    expect(Object.keys(task)).toHaveLength(8);
  });

  test.each([
    ['names', ''],
    ['names', '[]'],
    ['names', '{"texts":"a"}'],
    ['names', '{"texts":[1]}'],
    ['names', '{"texts":["a"]'],
    ['router', '{}'],
    ['router', '{"request":null}'],
    ['router', '{"request":"a","attachments":"b"}'],
    ['typed', '{"state":"a","questions":[]}'],
    ['typed', '{"state":1,"questions":[{"type":"noul","instructions":"a","options":[{"name":"a"},{"name":"b"}]}]}'],
  ])('refuse what is no question of theirs: %s %s', async (kind, body) => {
    const answer = await post(engine, kind, body);
    expect(answer.status).toBe(400);
    await answer.text();
  });

  test('are unavailable where they are not there', async () => {
    const options = [{ name: 'true' }, { name: 'false' }];
    const answer = await post(engine, 'typed', {
      state: {},
      questions: [{ type: 'noul', instructions: 'x', options }],
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(await answer.json()).toEqual({
      fault: { kind: 'unavailable', message: 'the typed model does not answer' },
    });
  });

  test('take bodies of up to 16 MiB', async () => {
    const most = 16 * 1024 * 1024;
    const padding = (length: number): string => `{"texts":["Ada"],"more":"${'x'.repeat(length)}"}`;
    const spare = padding(0).length;
    const fits = await post(engine, 'names', padding(most - spare));
    expect(fits.status).toBe(200);
    await fits.text();
    const over = await post(engine, 'names', padding(most - spare + 1));
    expect(over.status).toBe(400);
    expect(await over.json()).toEqual({ error: 'the request is too large' });
  });
});

describe('a model with one place', () => {
  let folders: ModelFolders;
  let engine: EngineProcess;
  beforeAll(async () => {
    folders = writeModels(['names']);
    const env = { GW_MODELS_DIR: folders.dir, GW_INFERENCE_MODEL_QUEUE_LENGTH: '1', GW_INFERENCE_ANSWER_SECONDS: '3' };
    engine = await startDocumentEngine(env);
    await settled(engine);
  });
  afterAll(async () => {
    await engine.stop();
    folders[Symbol.dispose]();
  });

  test('turns away what finds no place, and ends what takes too long; another thread comes', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(engine, 'names', SLOW)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(503));
    const kinds = (await Promise.all(answers.map((answer) => answer.json()))).map(
      (body) => (body as { fault: { kind: string } }).fault.kind,
    );
    expect(kinds.filter((kind) => kind === 'unavailable').length).toBeGreaterThanOrEqual(1);
    expect(kinds.filter((kind) => kind === 'busy').length).toBeGreaterThanOrEqual(4);
    await expect.poll(async () => (await post(engine, 'names', FAST)).status, { timeout: 30_000 }).toBe(200);
  });

  test('forgets who went away while waiting', async () => {
    await expect.poll(async () => (await post(engine, 'names', FAST)).status, { timeout: 30_000 }).toBe(200);
    const running = post(engine, 'names', SLOW);
    const busy = async (): Promise<boolean> => (await engine.metric('gw_inference_model_waiting{model="names"}')) === 1;
    await expect.poll(() => engine.metric('gw_inference_model_running{model="names"}')).toBe(1);
    const gone = request(`${engine.url}/v1/names`, { method: 'POST' });
    gone.on('error', () => {});
    gone.end(JSON.stringify(FAST));
    await expect.poll(busy).toBe(true);
    gone.destroy();
    await expect.poll(busy).toBe(false);
    expect((await running).status).toBe(503);
  });
});

describe('a model that is not as its manifest says', () => {
  test('is not there, and the others are not touched', async () => {
    using folders = writeModels();
    writeFileSync(join(folders.dir, 'names/model.onnx'), 'other');
    const engine = await startDocumentEngine({ GW_MODELS_DIR: folders.dir });
    try {
      const models = await settled(engine);
      expect(models['names']?.fault).toContain('model.onnx: the file does not match the manifest');
      expect(models['names']?.revision).toBeNull();
      expect((await post(engine, 'names', FAST)).status).toBe(503);
      expect(models['router']?.fault).toBeNull();
      expect((await post(engine, 'router', { request: 'hi' })).status).toBe(200);
    } finally {
      await engine.stop();
    }
  });

  const spoilt: readonly (readonly [string, (folders: ModelFolders) => void, string])[] = [
    [
      'has changed weights',
      ({ dir }) => writeFileSync(join(dir, 'names/model.onnx'), 'other'),
      'does not match the manifest',
    ],
    ['lacks a file', ({ dir }) => rmSync(join(dir, 'names/lists.bin')), 'cannot be read'],
    ['has no JSON', ({ dir }) => writeFileSync(join(dir, 'names/manifest.json'), '{'), 'is not JSON'],
    ['has no manifest', ({ dir }) => writeFileSync(join(dir, 'names/manifest.json'), '{}'), 'manifest.json: '],
    [
      'leads out of itself',
      ({ seal }) => seal('names', { files: { '../router/model.onnx': HASH } }),
      'is not a file name',
    ],
    ['leads above itself', ({ seal }) => seal('names', { files: { '..': HASH } }), '.. is not a file name'],
    [
      'is of another kind',
      ({ seal }) => seal('names', { kind: 'router' }),
      'of kind router, but must be of kind names',
    ],
    ['vouches for nothing', ({ seal }) => seal('names', { files: {} }), 'the manifest lacks model.onnx'],
    ['has other labels', ({ seal }) => seal('names', { labels: ['O', 'B-THING'] }), 'the label B-THING is unknown'],
    [
      'reads itself',
      ({ seal }) => seal('names', { tokenizer: { type: 'hashed-words', lists: 'manifest.json' } }),
      'lacks',
    ],
    [
      'has no tokenizer',
      ({ seal }) => seal('names', { tokenizer: { type: 'huggingface', file: 'lists.bin' } }),
      'the tokenizer file is not a tokenizer',
    ],
  ];
  test.each(spoilt)('is refused where its folder %s', async (_what, spoil, fault) => {
    using folders = writeModels(['names']);
    spoil(folders);
    const opened = readModelFolder(join(folders.dir, 'names'), 'names').then((folder) => LOADERS.names(folder));
    await expect(opened).rejects.toThrow(fault);
    await expect(opened).rejects.toBeInstanceOf(ModelFault);
  });
});
