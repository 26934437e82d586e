import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { typed, writeModels, type ModelFolders } from '../harness/model-folders.ts';
import { onnxFile, type Graph } from '../harness/onnx.ts';

/** What a caller of `gw/typed` asks keeps nobody's scope guard waiting: it has a thread and places of its own. */

/** Products of matrices, each of some four thousand million sums for a long state: more than a minute in all. */
const STEPS = 1200;

/** As the stand-in for typed decisions, but for a long state it takes longer than anybody waits. */
function slow(): Graph {
  const graph = typed();
  const steps = Array.from({ length: STEPS }, (_, at) => ({
    op: 'MatMul',
    inputs: [at === 0 ? 'square' : `step${at - 1}`, 'square'],
    output: `step${at}`,
  }));
  return {
    ...graph,
    weights: { ...graph.weights, nothing: { shape: [1], values: [0] } },
    nodes: [
      ...graph.nodes.filter(({ output }) => output !== 'known'),
      { op: 'MatMul', inputs: ['column', 'flat'], output: 'square' },
      ...steps,
      { op: 'ReduceMax', inputs: [`step${STEPS - 1}`], output: 'most', attributes: { keepdims: 0 } },
      { op: 'Mul', inputs: ['most', 'nothing'], output: 'none' },
      { op: 'Add', inputs: ['column', 'deep'], output: 'shallow' },
      { op: 'Add', inputs: ['shallow', 'none'], output: 'known' },
    ],
  };
}

const questions = [{ type: 'noul', instructions: 'wants a refund', options: [{ name: 'true' }, { name: 'false' }] }];
let folders: ModelFolders;
let engine: EngineProcess;
beforeAll(async () => {
  folders = writeModels(['typed']);
  writeFileSync(join(folders.dir, 'typed/model.onnx'), onnxFile(slow()));
  folders.seal('typed');
  engine = await startDocumentEngine({
    GW_MODELS_DIR: folders.dir,
    GW_INFERENCE_MODEL_QUEUE_LENGTH: '1',
    GW_INFERENCE_ANSWER_SECONDS: '600',
  });
});
afterAll(async () => {
  // In the middle of a native run nothing else ends it at once.
  process.kill(engine.pid, 'SIGKILL');
  await engine.exited;
  folders[Symbol.dispose]();
});

const ask = (state: string, lane?: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${engine.url}/v1/typed`, {
    method: 'POST',
    body: JSON.stringify({ state, questions, lane }),
    ...(signal && { signal }),
  });
const valueOf = (name: string, model: string): Promise<number> => engine.metric(`${name}{model="${model}"}`);

test('the scope guard is answered while questions of others wait', async () => {
  await expect.poll(() => valueOf('gw_inference_model_ready', 'typed'), { timeout: 60_000 }).toBe(1);
  expect((await ask('the first question loads it', 'guard')).status).toBe(200);
  const gone = new AbortController();
  const long = 'word '.repeat(384).replaceAll('word', 'supercalifragilistic');
  const waiting = [ask(long, undefined, gone.signal), ask(long, undefined, gone.signal)];
  const settled = Promise.allSettled(waiting);
  await expect.poll(() => valueOf('gw_inference_model_waiting', 'typed')).toBe(1);
  const turnedAway = await ask('short');
  expect(turnedAway.status).toBe(503);
  expect(await turnedAway.json()).toMatchObject({ fault: { kind: 'busy' } });

  for (let time = 0; time < 3; time += 1) {
    const answer = await ask('I want a refund', 'guard');
    expect(answer.status).toBe(200);
    const { answers, revision } = (await answer.json()) as { answers: readonly object[]; revision: string };
    expect(answers).toHaveLength(1);
    expect(revision).toMatch(/^[0-9a-f]{64}$/);
  }
  expect(await valueOf('gw_inference_model_running', 'typed')).toBe(1);
  expect(await valueOf('gw_inference_model_waiting', 'typed')).toBe(1);
  await expect.poll(() => engine.metric('gw_inference_answers_total{model="guard",outcome="answered"}')).toBe(4);
  expect(await engine.metric('gw_inference_answers_total{model="typed",outcome="answered"}')).toBe(0);
  gone.abort();
  expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});

test('it is no model of its own, and nobody else has a lane', async () => {
  const { models } = (await (await fetch(`${engine.url}/v1/models`)).json()) as { models: readonly { kind: string }[] };
  expect(models.map(({ kind }) => kind)).toEqual(['names', 'router', 'typed']);
  expect((await ask('x', 'mine')).status).toBe(400);
});
