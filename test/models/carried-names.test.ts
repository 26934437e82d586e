import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLocalModels } from '#/adapters/inference/models.ts';
import { detectionFor } from '#/inspect/detection.ts';
import { withNames } from '#/inspect/names/detect-names.ts';
import { createNameSearch } from '#/inspect/names/name-search.ts';
import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { withMemory } from '#/inspect/search/with-memory.ts';
import { startDocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { startUpstream } from '../harness/upstream.ts';

/** The model finds the name only behind "I am". */
let models: ModelsServer;
beforeAll(async () => {
  models = await startModelsServer();
  models.models.set('names', ({ texts }) => {
    const spans = (texts as readonly string[]).map((text) =>
      text.startsWith('I am Rose Hill') ? [[5, 14, 'PERSON_NAME', 1]] : [],
    );
    return { body: { spans, revision: '0'.repeat(64) } };
  });
});
afterAll(() => models[Symbol.asyncDispose]());

/** Long enough to be remembered. */
const SAID = `Then Rose Hill said ${'that all is well here, and that she has nothing to add; '.repeat(4)}`;
const INTRODUCED = 'I am Rose Hill.';

test('a name is carried on to a text in which nothing was found before', async () => {
  const pool = createDetectionPool();
  const local = openLocalModels({ url: () => models.url });
  const call = { signal: new AbortController().signal, key: { workload: { id: 'w', organization: { id: 'acme' } } } };
  const detection = detectionFor(
    call,
    withNames(withMemory(pool), createNameSearch(local), () => true),
  );
  const kinds = new Set(['PERSON_NAME', 'EMAIL']);
  expect(await detection.find([SAID], kinds)).toEqual([[]]);
  expect(detection.findNow(SAID, kinds)).toEqual([]);
  const [, later] = await detection.find([INTRODUCED, SAID], kinds);
  expect(later).toEqual([{ start: 5, end: 14, category: 'PERSON_NAME' }]);
  expect(await detection.find([SAID], kinds)).toEqual([[]]);
  // A search without the model says nothing of names.
  const own = `I am Rose Hill; ${SAID}`;
  expect(detection.findNow(own, kinds)).toEqual([]);
  expect((await detection.find([own], kinds))[0]).toHaveLength(2);
  await local.close();
  await pool.close();
});

test('a prompt is sent with tags for names that an earlier text tells, whatever was sent alone before', async () => {
  await using upstream = await startUpstream(chat({ content: 'Hello.' }));
  await using world = await startDocumentWorld({
    documentsUrl: models.url,
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '1', output: '1' }],
    applications: { tokenizing: { policy: { dlp: { mode: 'Tokenize', entities: ['person_name', 'email'] } } } },
  });
  const sent = async (...contents: readonly string[]): Promise<readonly string[]> => {
    const messages = contents.map((content) => ({ role: 'user', content }));
    const body = { model: 'upstream/m', messages };
    expect((await world.post('/v1/chat/completions', body, { as: 'tokenizing' })).status).toBe(200);
    const received = JSON.parse(upstream.requests.at(-1)?.body ?? '{}') as { messages: readonly { content: string }[] };
    return received.messages.map(({ content }) => content);
  };
  expect(await sent(SAID)).toEqual([SAID]);
  expect(await sent(INTRODUCED, SAID)).toEqual(['I am «PERSON_NAME_1».', SAID.replace('Rose Hill', '«PERSON_NAME_1»')]);
});
