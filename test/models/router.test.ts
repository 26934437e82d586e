import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { LOADERS, type Answerer } from '../../inference/decide/loaders.ts';
import { ModelFault, readModelFolder } from '../../inference/decide/manifest.ts';
import { router, writeModels } from '../harness/model-folders.ts';
import { onnxFile, type Graph } from '../harness/onnx.ts';

const SHAPED = router();
const LIMITS = {
  tokens: 256,
  head: 96,
  tail: 24,
  previous: 24,
  system: 12,
  attachments: 8,
  grams: 512,
  buckets: 65_536,
};

/** Opens a router of this graph, with this in its manifest. */
async function open(graph: Graph, more: object = {}): Promise<Answerer> {
  using folders = writeModels(['router']);
  writeFileSync(join(folders.dir, 'router/model.onnx'), onnxFile(graph));
  folders.seal('router', more);
  return await LOADERS.router(await readModelFolder(join(folders.dir, 'router'), 'router'));
}

describe('a router', () => {
  test('may read more than ours, know other tasks, and look at no hashed words', async () => {
    const { grams: _, ...inputs } = SHAPED.inputs;
    const labels = ['sums', 'verse', 'c', 'd', 'e', 'f', 'g', 'h'];
    const limits = {
      ...LIMITS,
      tokens: 2048,
      head: 1500,
      tail: 300,
      previous: 100,
      system: 50,
      attachments: 50,
      grams: 1,
    };
    const answer = await open({ ...SHAPED, inputs }, { labels, limits });
    const said = (await answer({ request: `${'why '.repeat(3000)}\n\`\`\`` })) as { task: Record<string, number> };
    expect(Object.keys(said.task)).toEqual(labels);
    expect(said.task['sums']).toBeGreaterThan(0.9);
  });

  const float = (...shape: readonly number[]) => ({ type: 'float32' as const, shape });
  const misfits: readonly (readonly [string, Graph, object, string])[] = [
    ['tells no limits', SHAPED, { limits: { tokens: 256 } }, 'the manifest of a router must have limits'],
    [
      'would read more than fits',
      SHAPED,
      { limits: { ...LIMITS, tokens: 128 } },
      '169 pieces, but limits.tokens is 128',
    ],
    ['has a label too few', SHAPED, { labels: ['code'] }, 'the output task must have 1 numbers'],
    [
      'has an input of its own',
      { ...SHAPED, inputs: { ...SHAPED.inputs, more: float(1) } },
      {},
      "the graph's input more is unknown",
    ],
    [
      'lacks an output',
      { ...SHAPED, outputs: { task: float(1, 8), reasoning: float(1, 2) } },
      {},
      'the graph has no output complexity',
    ],
    [
      "is of a size that is not the manifest's",
      { ...SHAPED, inputs: { ...SHAPED.inputs, ids: { type: 'int64', shape: [1, 64] } } },
      {},
      'the graph failed on 169 pieces',
    ],
  ];
  test.each(misfits)('is refused where it %s', async (_what, graph, more, fault) => {
    const opened = open(graph, more);
    await expect(opened).rejects.toThrow(fault);
    await expect(opened).rejects.toBeInstanceOf(ModelFault);
  });
});
