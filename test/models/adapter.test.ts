import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLocalModels } from '#/adapters/inference/models.ts';
import { ModelFault } from '#/ports/local-models.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { writeModels, type ModelFolders } from '../harness/model-folders.ts';

const { signal } = new AbortController();
const NOUL = {
  type: 'noul' as const,
  instructions: 'is it?',
  options: [{ name: 'true' }, { name: 'false' }],
};

describe('local models in a process of their own', () => {
  let folders: ModelFolders;
  let engine: EngineProcess;
  let models: ReturnType<typeof openLocalModels>;
  beforeAll(async () => {
    folders = writeModels();
    engine = await startDocumentEngine({ GW_MODELS_DIR: folders.dir });
    models = openLocalModels({ url: () => engine.url });
    const ready = async (): Promise<number> => (await models.there().catch(() => undefined))?.ready.size ?? 0;
    while ((await ready()) < 2) await setTimeout(50);
  });
  afterAll(async () => {
    await models.close();
    await engine.stop();
    folders[Symbol.dispose]();
  });

  test('find names, judge requests, and say what is not there', async () => {
    expect(await models.names(['', 'Ada Lovelace, Acme'], signal)).toEqual([
      [],
      [
        { start: 0, end: 12, category: 'PERSON_NAME' },
        { start: 14, end: 18, category: 'ORGANIZATION' },
      ],
    ]);
    const opinion = await models.route(
      { request: 'why?', previous: 'Assistant: so', attachments: ['a (b/c)'] },
      signal,
    );
    expect(opinion.complexity).toHaveLength(4);
    expect(opinion.revision).toMatch(/^[0-9a-f]{64}$/);
    await expect(models.decide({ a: 1 }, [NOUL], signal)).rejects.toMatchObject({
      name: 'ModelFault',
      kind: 'unavailable',
      retryAfterMs: 2000,
    });
  });

  test('stop waiting when nobody waits any more', async () => {
    const gone = new AbortController();
    const asked = models.names(['word '.repeat(4000)], gone.signal);
    const why = new Error('gone');
    gone.abort(why);
    await expect(asked).rejects.toBe(why);
    await expect(models.names(['Ada'], gone.signal)).rejects.toBe(why);
  });
});

describe('what answers in the place of local models', () => {
  let server: Server;
  let says: { readonly status: number; readonly body: string };
  let models: ReturnType<typeof openLocalModels>;
  beforeAll(async () => {
    server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(says.status, { 'retry-after': '7' }).end(says.body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    models = openLocalModels({ url: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  });
  afterAll(async () => {
    await models.close();
    server.close();
  });

  const revision = '0'.repeat(64);
  test.each([
    ['no JSON', 'oops'],
    ['no object', '[]'],
    ['no revision', '{"spans":[[]]}'],
    ['too few texts', JSON.stringify({ spans: [], revision })],
    ['a span that ends before it begins', JSON.stringify({ spans: [[[2, 1, 'PERSON_NAME', 1]]], revision })],
    ['a span beyond its text', JSON.stringify({ spans: [[[0, 4, 'PERSON_NAME', 1]]], revision })],
    ['half a place', JSON.stringify({ spans: [[[0, 1.5, 'PERSON_NAME', 1]]], revision })],
  ])('is not believed when it says %s', async (_what, body) => {
    says = { status: 200, body };
    await expect(models.names(['Ada'], signal)).rejects.toMatchObject({ name: 'ModelFault', kind: 'unavailable' });
  });

  test.each([
    ['no answer to the question', { answers: [], revision }],
    ['an option too many', { answers: [{ probabilities: [0.2, 0.3, 0.5] }], revision }],
    ['more than certain', { answers: [{ probabilities: [2, -1] }], revision }],
  ])('is not believed when it gives %s', async (_what, body) => {
    says = { status: 200, body: JSON.stringify(body) };
    await expect(models.decide('a', [NOUL], signal)).rejects.toBeInstanceOf(ModelFault);
  });

  test('may be busy, or fail in a way of its own', async () => {
    says = { status: 503, body: JSON.stringify({ fault: { kind: 'busy', message: 'full' } }) };
    await expect(models.route({ request: 'a' }, signal)).rejects.toMatchObject({
      kind: 'busy',
      message: 'full',
      retryAfterMs: 7000,
    });
    says = { status: 422, body: JSON.stringify({ fault: { kind: 'too_long', message: 'long', question: 3 } }) };
    await expect(models.decide('a', [NOUL], signal)).rejects.toMatchObject({ kind: 'too_long', question: 3 });
    says = { status: 500, body: 'Ada Lovelace' };
    const failed = models.route({ request: 'a' }, signal);
    await expect(failed).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'the local models answered with status 500',
    });
  });

  test('may not be there', async () => {
    const nowhere = openLocalModels({ url: () => undefined });
    const deaf = openLocalModels({ url: () => 'http://127.0.0.1:9' });
    for (const none of [nowhere, deaf]) {
      await expect(none.names(['Ada'], signal)).rejects.toMatchObject({ kind: 'unavailable' });
      await expect(none.there()).rejects.toBeInstanceOf(ModelFault);
      await none.close();
    }
  });
});
