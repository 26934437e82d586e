import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openLocalModels } from '#/adapters/inference/models.ts';
import { NamesUnavailable, withNames } from '#/inspect/names/detect-names.ts';
import { createDetectionPool } from '#/inspect/search/detection-pool.ts';
import { createNameSearch } from '#/inspect/names/name-search.ts';
import { failureOf, formOf, startDocumentWorld, type DocumentWorld } from '../documents/world.ts';
import { chat } from '../harness/answers.ts';
import { startDocumentEngine, type EngineProcess } from '../harness/document-engine.ts';
import { ledgerRows } from '../harness/ledger-rows.ts';
import { writeModels, type ModelFolders } from '../harness/model-folders.ts';
import { BUSY, namesOf, startModelsServer, type ModelsServer } from '../harness/models-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

const KNOWN = {
  'Ada Lovelace': 'PERSON_NAME',
  'Jane Roe': 'PERSON_NAME',
  Paris: 'LOCATION',
  'Hill Road 5, a@b.example': 'ADDRESS',
};

let models: ModelsServer;
beforeAll(async () => {
  models = await startModelsServer();
  models.models.set('names', namesOf(KNOWN));
});
afterAll(() => models[Symbol.asyncDispose]());
beforeEach(() => {
  models.asked.length = 0;
  models.models.set('names', namesOf(KNOWN));
});
const textsAsked = (): readonly unknown[] => models.asked.map(({ body }) => body['texts']);

describe('a search for names', () => {
  let local: ReturnType<typeof openLocalModels>;
  beforeAll(() => {
    local = openLocalModels({ url: () => models.url });
  });
  afterAll(() => local.close());

  test('asks at once about what comes at once, and never twice about a text', async () => {
    const search = createNameSearch(local);
    const both = [search.find(['Ada Lovelace', 'X']), search.find(['X', 'in Paris', '12 + 3'])];
    expect(await Promise.all(both)).toEqual([
      [[{ start: 0, end: 12, category: 'PERSON_NAME' }], []],
      [[], [{ start: 3, end: 8, category: 'LOCATION' }], []],
    ]);
    expect(textsAsked()).toEqual([['X', 'in Paris', 'Ada Lovelace']]);
    await search.find(['in Paris', 'Ada Lovelace', 'New']);
    expect(textsAsked()).toHaveLength(2);
    expect(textsAsked()[1]).toEqual(['New']);
  });

  test('gathers what comes while it waits', async () => {
    const search = createNameSearch(local);
    const first = search.find(['One']);
    await vi.waitFor(() => expect(models.asked.length).toBe(1));
    await first;
    const gate = Promise.withResolvers<void>();
    const slow = createNameSearch({
      names: async (texts, signal) => {
        await gate.promise;
        return local.names(texts, signal);
      },
    });
    const found = ['A', 'B', 'C'].map(async (text, index) => {
      for (let turn = 0; turn < index; turn += 1) await Promise.resolve();
      return slow.find([text]);
    });
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve();
    await Promise.all(found);
    expect(textsAsked().slice(1).flat()).toEqual(['A', 'B', 'C']);
    expect(textsAsked().length).toBeLessThanOrEqual(3);
  });

  test('asks about no identifier: it may be a word of the format', async () => {
    const search = createNameSearch(local);
    models.models.set(
      'names',
      namesOf({ criteria: 'PERSON_NAME', maxTokens: 'PERSON_NAME', tool_choice: 'ORGANIZATION' }),
    );
    expect(await search.find(['criteria', 'tool_choice', 'maxTokens'])).toEqual([[], [], []]);
    expect(models.asked).toHaveLength(0);
    expect(await search.find(['criteria, please'])).not.toEqual([[]]);
  });

  test('does not remember that nobody answered', async () => {
    const search = createNameSearch(local);
    models.models.set('names', () => BUSY);
    await expect(search.find(['in Paris'])).rejects.toMatchObject({ name: 'ModelFault', kind: 'busy' });
    models.models.set('names', namesOf(KNOWN));
    expect(await search.find(['in Paris'])).toEqual([[{ start: 3, end: 8, category: 'LOCATION' }]]);
  });

  test('cuts long texts between words', async () => {
    const search = createNameSearch(local);
    const text = `${'word '.repeat(19_998)}to Paris and Paris ${'x'.repeat(150_000)} Paris`;
    const [spans] = await search.find([text]);
    expect(spans?.map(({ start, end }) => text.slice(start, end))).toEqual(['Paris', 'Paris', 'Paris']);
    expect(textsAsked().flat().join('')).toBe(text);
  });

  test('unites names with what is found otherwise, and carries names on', async () => {
    const pool = createDetectionPool();
    const detection = withNames(pool, createNameSearch(local), () => true);
    const wanted = new Set(['PERSON_NAME', 'ADDRESS', 'EMAIL']);
    const texts = [
      'Lovelace is not found alone, nor is Ada; Paris is not wanted',
      'Ada Lovelace of Hill Road 5, a@b.example',
      'ada lovelace, Ada Lovelaces; c@d.example; Ada Lovelace',
    ];
    const found = await detection.find(texts, wanted);
    expect(found.map((spans, index) => spans.map(({ start, end }) => texts[index]?.slice(start, end)))).toEqual([
      [],
      ['Ada Lovelace', 'Hill Road 5, a@b.example'],
      ['Ada Lovelace', 'c@d.example', 'Ada Lovelace'],
    ]);
    // Structured kinds alone are found without asking anybody.
    models.asked.length = 0;
    expect((await detection.find(['c@d.example'], new Set(['EMAIL'])))[0]).toHaveLength(1);
    expect((await detection.find(['c@d.example of Ada Lovelace']))[0]).toHaveLength(1);
    expect(models.asked).toHaveLength(0);
    await pool.close();
  });

  test('carries a name on from the text where the model found it, as a whole word in its own case', async () => {
    const pool = createDetectionPool();
    models.models.set('names', ({ texts }) => {
      const spans = (texts as readonly string[]).map((text) =>
        text.startsWith('I am') ? [[5, text.length, 'PERSON_NAME', 1]] : [],
      );
      return { body: { spans, revision: '0'.repeat(64) } };
    });
    const detection = withNames(pool, createNameSearch(local), () => true);
    const texts = ['Rose Hill said', 'I am Rose Hill', 'Rose Hill. Rose hill; rose Hill; Rose Hills, (Rose Hill)'];
    const found = await detection.find(texts, new Set(['PERSON_NAME']));
    expect(found.map((spans) => spans.map(({ start }) => start))).toEqual([[], [5], [0, 46]]);
    await pool.close();
  });

  test('fails where there is nobody to ask', async () => {
    const pool = createDetectionPool();
    const detection = withNames(pool, undefined, () => false);
    await expect(detection.find(['x'], new Set(['PERSON_NAME']))).rejects.toBeInstanceOf(NamesUnavailable);
    expect(detection.categories).toEqual(pool.categories);
    await pool.close();
  });
});

describe('names in prompts', () => {
  let upstream: Upstream;
  let world: DocumentWorld;
  beforeAll(async () => {
    upstream = await startUpstream(chat({ content: 'Hello «PERSON_NAME_1».' }));
    const entities = ['person_name', 'email'];
    world = await startDocumentWorld({
      documentsUrl: models.url,
      upstreamUrl: upstream.url,
      prices: [{ model: 'upstream/*', input: '1', output: '1' }],
      applications: {
        tokenizing: { policy: { dlp: { mode: 'Tokenize', entities } } },
        masking: { policy: { dlp: { mode: 'Mask', entities } } },
        blocking: { policy: { dlp: { mode: 'Block', entities } } },
        logging: { policy: { dlp: { mode: 'AllowLog', entities } } },
        structured: { policy: { dlp: { mode: 'Tokenize' } } },
        counting: { policy: { dlp: { mode: 'AllowLog' } } },
      },
    });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await upstream.close();
  });

  const say = (as: string, ...contents: readonly string[]): Promise<Response> => {
    const messages = contents.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }));
    return world.post('/v1/chat/completions', { model: 'upstream/m', messages }, { as });
  };
  const sent = (): readonly string[] => {
    const { messages } = JSON.parse(upstream.requests.at(-1)?.body ?? '{}') as {
      messages: readonly { content: string }[];
    };
    return messages.map(({ content }) => content);
  };

  test('become tags, and come back in answers', async () => {
    const answer = await say('tokenizing', 'I am Ada Lovelace, ada@example.com, in Paris');
    expect(sent()).toEqual(['I am «PERSON_NAME_1», «EMAIL_1», in Paris']);
    expect(await answer.text()).toContain('Hello Ada Lovelace.');
    expect((await world.row(answer)).dlp.findings).toEqual({ PERSON_NAME: 1, EMAIL: 1 });
  });

  test('are masked, refused or counted as policy says', async () => {
    await say('masking', 'I am Ada Lovelace');
    expect(sent()).toEqual(['I am [PERSON_NAME]']);
    const refused = await say('blocking', 'I am Ada Lovelace');
    expect(await failureOf(refused)).toMatchObject({ status: 422, code: 'data_protection' });
    const logged = await say('logging', 'I am Ada Lovelace');
    expect(sent()).toEqual(['I am Ada Lovelace']);
    expect((await world.row(logged)).dlp).toMatchObject({ findings: { PERSON_NAME: 1 }, unscanned: [] });
  });

  test('have the same tags in the next turn, which asks about what is new only', async () => {
    await say('tokenizing', 'Jane Roe here', 'Hello Jane Roe', 'bye');
    const before = sent();
    models.asked.length = 0;
    await say('tokenizing', 'Jane Roe here', 'Hello Jane Roe', 'bye', 'Bye', 'and Ada Lovelace?');
    expect(sent().slice(0, 3)).toEqual(before);
    expect(sent().at(-1)).toBe('and «PERSON_NAME_2»?');
    const asked = textsAsked().flat();
    expect(asked).toContain('and Ada Lovelace?');
    expect(asked).not.toContain('Jane Roe here');
  });

  test('are looked for in an attached text no longer than the answer may take', async () => {
    const text = 'Jane Roe wrote this';
    // Of which nothing is ever answered.
    models.models.set('names', (body) =>
      (body['texts'] as string[]).includes(text) ? undefined : namesOf(KNOWN)(body),
    );
    const file_data = `data:text/plain;base64,${Buffer.from(text).toString('base64')}`;
    const content = [{ type: 'file', file: { filename: 'a.txt', file_data } }];
    const body = { model: 'upstream/m', messages: [{ role: 'user', content }] };
    const before = upstream.requests.length;
    const headers = { 'x-gw-upstream-timeout': '1' };
    const late = await world.post('/v1/chat/completions', body, { as: 'tokenizing', headers });
    expect(await failureOf(late)).toMatchObject({ status: 504, code: 'upstream_timeout' });
    expect(upstream.requests).toHaveLength(before);
  });

  test('are not looked for any more when the client has gone, and nobody waits for that', async () => {
    const gate = Promise.withResolvers<void>();
    models.models.set('names', async (body) => {
      await gate.promise;
      return namesOf(KNOWN)(body);
    });
    const gone = new AbortController();
    const body = { model: 'upstream/m', messages: [{ role: 'user', content: 'ä'.repeat(300_000) }] };
    const left = world.post('/v1/chat/completions', body, { as: 'tokenizing', signal: gone.signal });
    await vi.waitFor(() => expect(models.asked).toHaveLength(1));
    gone.abort();
    await expect(left).rejects.toBe(gone.signal.reason);
    // Its row is written while the model still thinks about what it was asked first.
    const isSealed = async (): Promise<void> => {
      const rows = await ledgerRows(world.databaseUrl);
      expect(
        rows.filter(({ outcome, status, step }) => `${outcome} ${status} ${step}` === 'hung_up 499 inspect'),
      ).toHaveLength(1);
    };
    await vi.waitFor(isSealed, { timeout: 20_000 });
    gate.resolve();
    await say('tokenizing', 'I am next');
    expect(textsAsked().slice(1)).toEqual([['I am next']]);
  });

  test('are looked for where a policy that protects names no kinds, places are not', async () => {
    const answer = await say('structured', 'I am Ada Lovelace, ada@example.com, in Paris');
    expect(sent()).toEqual(['I am «PERSON_NAME_1», «EMAIL_1», in Paris']);
    expect((await world.row(answer)).dlp.findings).toEqual({ PERSON_NAME: 1, EMAIL: 1 });
    models.models.set('names', () => BUSY);
    const refused = await say('structured', 'I am somebody else');
    expect(await failureOf(refused)).toMatchObject({ status: 503, code: 'inspection_unavailable' });
  });

  test('are not looked for where a policy only counts and names no kinds, which header and row say', async () => {
    const answer = await say('counting', 'I am Ada Lovelace, ada@example.com');
    expect(sent()).toEqual(['I am Ada Lovelace, ada@example.com']);
    expect((await world.row(answer)).dlp).toMatchObject({ findings: { EMAIL: 1 }, unscanned: ['names'] });
    expect(answer.headers.get('x-gw-unscanned')).toBe('names');
    expect(models.asked).toHaveLength(0);
  });

  test.each([['tokenizing'], ['masking'], ['blocking']])('refuse the call where nobody finds them: %s', async (as) => {
    models.models.delete('names');
    const before = upstream.requests.length;
    const answer = await say(as, `a text of its own for ${as}`);
    expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'inspection_unavailable' });
    expect(upstream.requests).toHaveLength(before);
  });

  test('are told to be missing where policy only counts', async () => {
    models.models.set('names', () => BUSY);
    const answer = await say('logging', 'another text, to ada@example.com');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-gw-unscanned')).toBe('names');
    expect((await world.row(answer)).dlp).toMatchObject({ findings: { EMAIL: 1 }, unscanned: ['names'] });
  });
});

test('a policy that protects refuses what comes while the model of names is damaged, from the first call on', async () => {
  models.models.delete('names');
  models.damaged.add('names');
  await using upstream = await startUpstream();
  await using world = await startDocumentWorld({
    documentsUrl: models.url,
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '1', output: '1' }],
    applications: { protected: { policy: { dlp: { mode: 'Tokenize' } } } },
  });
  models.damaged.clear();
  const messages = [{ role: 'user', content: 'I am Jane Roe' }];
  const answer = await world.post('/v1/chat/completions', { model: 'upstream/m', messages }, { as: 'protected' });
  expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'inspection_unavailable' });
  expect(upstream.requests).toHaveLength(0);
});

test('without local models, what names them in a policy is refused', async () => {
  await using upstream = await startUpstream();
  const policy = { dlp: { mode: 'Tokenize', entities: ['person_name'] } };
  await using world = await startDocumentWorld({
    upstreamUrl: upstream.url,
    prices: [{ model: 'upstream/*', input: '1', output: '1' }],
    applications: { named: { policy } },
  });
  const messages = [{ role: 'user', content: 'hi' }];
  const answer = await world.post('/v1/chat/completions', { model: 'upstream/m', messages }, { as: 'named' });
  expect(await failureOf(answer)).toMatchObject({ status: 503, code: 'inspection_unavailable' });
  expect(upstream.requests).toHaveLength(0);
});

describe('names in documents', () => {
  let folders: ModelFolders;
  let engine: EngineProcess;
  let world: DocumentWorld;
  beforeAll(async () => {
    folders = writeModels(['names']);
    engine = await startDocumentEngine({ GW_MODELS_DIR: folders.dir });
    await engine.ready();
    world = await startDocumentWorld({ documentsUrl: engine.url });
    // The gateway looks from time to time which models are there.
    const named = (): FormData => formOf(Buffer.from('Ada'), 'a.txt', { entities: ['person_name'] });
    while ((await world.anonymize(named())).status !== 200) await setTimeout(100);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await engine.stop();
    folders[Symbol.dispose]();
  });
  const anonymized = async (
    text: string,
    options: object,
    name = 'a.txt',
  ): Promise<{ text: string; unscanned: string | null }> => {
    const answer = await world.anonymize(formOf(Buffer.from(text), name, options));
    expect(answer.status).toBe(200);
    const { content_base64 } = (await answer.json()) as { content_base64: string };
    const unscanned = answer.headers.get('x-gw-unscanned');
    return { text: Buffer.from(content_base64, 'base64').toString('utf8'), unscanned };
  };

  test('are found where no kind is named, and where theirs is', async () => {
    const text = 'Ada Lovelace of Acme, x@example.com.\n\nADA LOVELACE was in Paris.';
    const ofAll = await anonymized(text, {});
    expect(ofAll.text).toBe('«PERSON_NAME_1» of «ORGANIZATION_1», «EMAIL_1».\n\n«PERSON_NAME_1» was in «LOCATION_1».');
    expect(ofAll.unscanned).not.toContain('person_name');
    const named = await anonymized(text, { entities: ['person_name'] });
    expect(named.text).toBe('«PERSON_NAME_1» of Acme, x@example.com.\n\n«PERSON_NAME_1» was in Paris.');
    expect(named.unscanned).toBeNull();
    const others = await anonymized(text, { entities: ['email'] });
    expect(others.text).toContain('Ada Lovelace of Acme, «EMAIL_1»');
  });

  test('are no words in small letters among others in capitals, and no identifiers', async () => {
    const prose = await anonymized('The plaster of paris dried.\n\nAda saw PARIS.', { entities: ['person_name'] });
    expect(prose.text).toBe('The plaster of paris dried.\n\n«PERSON_NAME_1» saw PARIS.');
    const { text } = await anonymized('The plaster of paris dried.', { entities: ['location'] });
    expect(text).toBe('The plaster of paris dried.');
    expect((await anonymized('plaster of paris', { entities: ['location'] })).text).toBe('plaster of «LOCATION_1»');
    const page = '<p id="Acme">Ada came.</p><p class="Ada">See <a href="#Acme">below</a>.</p>';
    const html = await anonymized(page, {}, 'a.html');
    expect(html.text).toContain('<p id="Acme">«PERSON_NAME_1» came.</p>');
    expect(html.text).not.toContain('Ada');
  });

  test('that are short are found again as whole words', async () => {
    const { text } = await anonymized('Ada came.\n\nada, Adam and Canada stayed.', { entities: ['person_name'] });
    expect(text).toBe('«PERSON_NAME_1» came.\n\n«PERSON_NAME_1», Adam and Canada stayed.');
  });
});
