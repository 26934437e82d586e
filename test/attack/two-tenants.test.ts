import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/surfaces/passthrough/operations.ts';
import { OPERATION_OBJECTS } from '../../src/wire/kept/table.ts';
import { sample } from './effort.ts';
import { tally } from './tally.ts';
import { bodyWith, MEMBER_CASES, USED_CASES } from './member-cases.ts';
import {
  call,
  made,
  makeVideo,
  MAKERS,
  ORGANIZATIONS,
  PAIRS,
  startTenants,
  turnTo,
  upstream,
  type Tenant,
} from './tenants.ts';

/**
 * Two tenants and a provider that serves whatever it is asked for: what one has made, the other can neither read, change,
 * delete, list nor build on. Two gateways share a database: what is made at one is known to the other.
 */

const tried = tally('two tenants x objects of a provider');
startTenants();

test('every operation that is mounted is in the table, and nothing else', () => {
  const mounted = OPERATIONS.map(({ method, path }) => `${method} ${path}`);
  expect(mounted.toSorted()).toEqual(Object.keys(OPERATION_OBJECTS).toSorted());
});

describe.each(PAIRS)('%s: operations', (what, slug, owner, thief) => {
  const named = OPERATIONS.filter(({ objects }) => objects !== 'none' && objects.act !== 'make');

  test.each(named)('$method $path', async ({ method, path, objects, ownKeyOnly }) => {
    const make = MAKERS[objects === 'none' ? '' : objects.kind]!;
    // Files are for own accounts only: there is nothing to steal, and the operation itself must be refused.
    const id = ownKeyOnly && slug === 'shared' ? `shared~file_${made}` : await make(owner, slug);
    const bare = id.slice(id.indexOf('~') + 1);
    const body = method === 'POST' ? { prompt: 'a dog' } : undefined;
    const ways = path.includes(':id')
      ? [
          call(thief, method, path.replace(':id', id), body),
          call(thief, method, path.replace(':id', bare), body, slug),
          call(thief, method, path.replace(':id', encodeURIComponent(id)), body),
          call(thief, method, path.replace(':id', `${slug}~never-seen`), body),
        ]
      : [
          call(thief, method, path, body, slug),
          call(thief, method, `${path}?limit=100&order=asc`, body, slug),
          call(thief, method, `${path}?after=${id}`, body, slug),
          call(thief, method, `${path}?after=${bare}&limit=1`, body, slug),
        ];
    // `opener` may reach what nobody has recorded: that is what sharing means, on an own account.
    const shares = ORGANIZATIONS[thief] === 'open' && slug === 'own';
    for (const [index, way] of ways.entries()) {
      const { status, body: told, asked } = await way;
      const leaks = told.includes(`"${id}"`) || told.includes(`bytes of ${bare}`);
      const reached = asked.some((one) => one.includes(`/${bare}`));
      const ofNobody = shares && index === 3 && path.includes(':id');
      const name = `${what}: ${method} ${path}, way ${index + 1}`;
      if (leaks || (reached && !ofNobody) || (path.includes(':id') && status === 200 && !ofNobody)) tried.passed(name);
      else tried.held(name);
      expect({ name, leaks, reached: reached && !ofNobody }).toEqual({ name, leaks: false, reached: false });
      if (path.includes(':id') && !ofNobody)
        expect([name, status]).toEqual([name, expect.toSatisfy((code: number) => [403, 404].includes(code))]);
    }
    if (ownKeyOnly && slug === 'shared') return;
    const [mine] = [await call(owner, method, path.replace(':id', id), body, slug)];
    expect([mine.status, mine.body]).toEqual([200, expect.any(String)]);
    if (!path.includes(':id')) expect(mine.body).toContain(`"${id}"`);
  });
});

describe('a path that nobody has classified', () => {
  test.each(PAIRS)(
    '%s: it is closed to an account that is not one organization’s alone',
    async (_, slug, owner, thief) => {
      for (const tenant of [owner, thief]) {
        for (const [method, path] of [
          ['POST', '/v1/evals'],
          ['GET', '/v1/evals'],
          ['GET', '/v1/evals/object_1'],
          ['DELETE', '/v1/evals/object_1'],
          ['POST', '/v1/evals/object_1/runs'],
          ['GET', '/v1/batches/batch_1/lines'],
        ] as const) {
          const { status, asked } = await call(tenant, method, path, method === 'POST' ? {} : undefined, slug);
          const name = `${method} ${path} by ${tenant} on ${slug}`;
          if (status === 403 && asked.length === 0) tried.held(name);
          else tried.passed(name);
          expect([name, status, asked]).toEqual([name, 403, []]);
        }
      }
    },
  );
});

const WALKED = new Set([PAIRS[0]![0], PAIRS[2]![0]]);

describe.each(PAIRS)('%s: members of requests', (what, slug, owner, thief) => {
  // Every member for organizations on a managed account and workloads on an own one; for the others, those that clients use.
  const cases = WALKED.has(what) ? [...sample(what, MEMBER_CASES, 0.4), ...USED_CASES] : USED_CASES;
  test.each(cases)('$name', async ({ name, family, place }) => {
    const id = await recorded(owner, slug);
    const model = `${slug}${family === 'messages' ? 'claude' : ''}/m`;
    const ids = [id, `${slug}~${id}`, ...(slug === 'shared' ? ['never-seen'] : [])];
    for (const [index, one] of ids.entries()) {
      const asked = bodyWith(family, model, place(one))!;
      const told = await call(thief, 'POST', asked.path, asked.body);
      const attack = `${what}: ${name}, way ${index + 1}`;
      // Another provider of the same address is another account: there its ids are nobody's, so sharing lets them by.
      const shares = ORGANIZATIONS[thief] === 'open' && slug === 'own' && family === 'messages';
      const reached = told.asked.some((request) => request.includes(`"${id}"`) || request.includes('"never-seen"'));
      if (reached && !shares) tried.passed(attack);
      else tried.held(attack);
      expect([attack, reached && !shares]).toEqual([attack, false]);
    }
  });
});

const known = new Map<string, string>();

/** The bare id of something that a tenant has made on an account. */
async function recorded(tenant: Tenant, slug: string): Promise<string> {
  const key = `${tenant} ${slug}`;
  let id = known.get(key);
  if (id === undefined) {
    id = (await makeVideo(tenant, slug)).slice(slug.length + 1);
    known.set(key, id);
  }
  return id;
}

describe('what a workload has made itself', () => {
  const cases = [...sample('let through', MEMBER_CASES, 0.2), ...USED_CASES].filter(
    ({ family }) => family !== 'messages',
  );
  let served = 0;
  test.each(cases)('$name is let through, or refused as what it is', async ({ family, place }) => {
    const id = await recorded('app', 'own');
    const { path, body } = bodyWith(family, 'own/m', place(`own~${id}`))!;
    const told = await call('app', 'POST', path, body);
    // A case that names two things, and shapes that the door or a rule of the surface refuses.
    if (told.status !== 200) expect([400, 404, 422]).toContain(told.status);
    else served += 1;
    expect(told.asked.join()).not.toContain('own~');
  });

  test('most of what names an object is let through for its workload', () => {
    expect(served).toBeGreaterThan(cases.length * 0.8);
  });

  test.each([false, true])('a stored response, streamed: %s, is gone on from by its workload alone', async (stream) => {
    const first = await call('app', 'POST', '/v1/responses', { model: 'own/m', input: 'Hi', stream });
    expect([first.status, first.body]).toEqual([200, expect.stringContaining('resp_')]);
    const id = /resp_\d+/.exec(first.body)![0];
    const item = /msg_\d+/.exec(first.body)![0];
    const container = /cntr_\d+/.exec(first.body)![0];
    const uses: readonly object[] = [
      { previous_response_id: id },
      {
        input: [
          { type: 'item_reference', id: item },
          { role: 'user', content: 'b' },
        ],
      },
      { tools: [{ type: 'code_interpreter', container }] },
    ];
    for (const use of uses) {
      const body = { model: 'own/m', input: 'Go on', ...use };
      for (const gateway of [0, 1] as const) {
        turnTo(gateway);
        expect([use, (await call('app', 'POST', '/v1/responses', body)).status]).toEqual([use, 200]);
      }
      for (const thief of ['other', 'rival', 'opener'] as const) {
        const { status, body: told, asked } = await call(thief, 'POST', '/v1/responses', body);
        if (status === 404 && asked.length === 0) tried.held(`stored response, ${thief}`);
        else tried.passed(`stored response, ${thief}`);
        expect([status, asked]).toEqual([404, []]);
        expect(told).toContain('sharedObjects');
      }
    }
  });

  test('what a workload asked not to store is nobody’s, and on a managed account nothing is stored', async () => {
    for (const [model, more] of [
      ['own/m', { store: false }],
      ['shared/m', {}],
    ] as const) {
      const first = await call('app', 'POST', '/v1/responses', { model, input: 'Hi', ...more });
      expect(first.asked.join()).toMatch(/"store":\s*false/);
      const id = /resp_\d+/.exec(first.body)![0];
      const next = await call('app', 'POST', '/v1/responses', { model, input: 'b', previous_response_id: id });
      expect([next.status, next.asked]).toEqual([404, []]);
    }
  });

  test('thoughts in clear are sent back to any provider, under an id that is nobody’s unless they are its own', async () => {
    const first = await call('app', 'POST', '/v1/responses', { model: 'own/m', input: 'Hi' });
    const id = /msg_\d+/.exec(first.body)![0];
    const thought = { type: 'reasoning', id, summary: [{ type: 'summary_text', text: 'Hm.' }] };
    const body = { model: 'own/m', input: [{ role: 'user', content: 'a' }, thought, { role: 'user', content: 'b' }] };
    const own = await call('app', 'POST', '/v1/responses', body);
    expect([own.status, own.asked.join()]).toEqual([200, expect.stringContaining(`"${id}"`)]);
    const theirs = await call('other', 'POST', '/v1/responses', body);
    expect([theirs.status, theirs.asked.join()]).toEqual([200, expect.stringContaining('Hm.')]);
    if (theirs.asked.join().includes(`"${id}"`)) tried.passed('told thought');
    else tried.held('told thought');
  });

  test('a container of the messages surface, on a managed account too', async () => {
    const asked = { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
    for (const model of ['ownclaude/m', 'sharedclaude/m']) {
      const first = await call('app', 'POST', '/v1/messages', { model, ...asked });
      const container = /container_\d+/.exec(first.body)![0];
      const body = { model, ...asked, container };
      expect((await call('app', 'POST', '/v1/messages', body)).status).toBe(200);
      const theirs = await call('other', 'POST', '/v1/messages', body);
      expect([theirs.status, theirs.asked]).toEqual([404, []]);
    }
  });

  test('what a model writes into arguments of a tool makes nothing anybody’s', async () => {
    const content = [{ type: 'container_upload', file_id: 'file_claimed' }];
    const body = { model: 'sharedclaude/m', max_tokens: 9, messages: [{ role: 'user', content }] };
    const { status, asked } = await call('app', 'POST', '/v1/messages', body);
    expect([status, asked]).toEqual([404, []]);
  });

  test('the sound of an answer', async () => {
    const messages = [{ role: 'user', content: 'Hi' }];
    const first = await call('app', 'POST', '/v1/chat/completions', { model: 'shared/m', messages });
    const sound = { role: 'assistant', audio: { id: /audio_\d+/.exec(first.body)![0] } };
    const body = { model: 'shared/m', messages: [...messages, sound, ...messages] };
    expect((await call('app', 'POST', '/v1/chat/completions', body)).status).toBe(200);
    expect((await call('rival', 'POST', '/v1/chat/completions', body)).status).toBe(404);
  });
});

test('an organization that shares lets its workloads name each other’s objects, and what was made elsewhere', async () => {
  const id = await makeVideo('open', 'own');
  expect((await call('opener', 'GET', `/v1/videos/${id}`)).status).toBe(200);
  expect((await call('opener', 'GET', '/v1/videos/own~made-elsewhere')).status).toBe(200);
  const body = { model: 'own/m', input: 'Hi', previous_response_id: 'resp_elsewhere' };
  expect((await call('opener', 'POST', '/v1/responses', body)).status).toBe(200);
  const list = await call('opener', 'GET', '/v1/videos', undefined, 'own');
  expect(list.body).toContain(`"${id}"`);
  const foreign = await makeVideo('app', 'own');
  expect((await call('opener', 'GET', '/v1/videos', undefined, 'own')).body).not.toContain(`"${foreign}"`);
});

test('a workload pages through what it has made, and what it deletes is gone', async () => {
  const ids = [
    await makeVideo('rival', 'shared'),
    await makeVideo('rival', 'shared'),
    await makeVideo('rival', 'shared'),
  ];
  const listed: string[] = [];
  for (let after = ''; ;) {
    const { status, body } = await call('rival', 'GET', `/v1/videos?limit=2${after}`, undefined, 'shared');
    expect(status).toBe(200);
    const page = JSON.parse(body) as { data: { id: string }[]; has_more: boolean; last_id: string };
    listed.push(...page.data.map(({ id }) => id));
    if (!page.has_more) break;
    after = `&after=${page.last_id}`;
  }
  expect(listed.filter((id) => ids.includes(id))).toEqual(ids.toReversed());
  expect((await call('rival', 'DELETE', `/v1/videos/${ids[0]}`)).status).toBe(200);
  expect((await call('rival', 'GET', `/v1/videos/${ids[0]}`)).status).toBe(404);
});

test('an object is asked for with the credential that it was made with', async () => {
  const madeOn = new Map<string, string>();
  for (let round = 0; round < 40 && (round < 4 || madeOn.size < 2); round++) {
    const id = await makeVideo('app', 'own');
    const account = upstream.requests.at(-1)!.headers.authorization;
    madeOn.set(account!, id);
    expect((await call('app', 'GET', `/v1/videos/${id}`)).status).toBe(200);
    expect(upstream.requests.at(-1)!.headers.authorization).toBe(account);
  }
  // Each account keeps its own: a body that names objects of both can be sent to neither.
  const content = [...madeOn.values()].map((id) => ({ type: 'file', file: { file_id: id } }));
  const body = { model: 'own/m', messages: [{ role: 'user', content }] };
  const { status, asked } = await call('app', 'POST', '/v1/chat/completions', body);
  expect([content.length, status, asked]).toEqual([2, 400, []]);
});

test.each([
  '?limit=0',
  '?limit=1e3',
  '?order=up',
  '?filter=x',
  '?after=../x',
  '?after=',
  '?after=a&after=b',
  '?after=own~video_1',
  '?before=video_1',
])('a list is refused for %s', async (query) => {
  const { status, asked } = await call('app', 'GET', `/v1/videos${query}`, undefined, 'shared');
  expect([400, 404]).toContain(status);
  expect(asked).toEqual([]);
});

test('an id-like member that nobody has classified is refused on a managed account, and sent on an own one', async () => {
  const messages = [{ role: 'user', content: 'Hi' }];
  const managed = await call('app', 'POST', '/v1/chat/completions', {
    model: 'shared/m',
    messages,
    secret_store_id: 'x',
  });
  expect([managed.status, managed.asked]).toEqual([400, []]);
  expect(managed.body).toContain('secret_store_id');
});

test('a form names nothing that a provider keeps', async () => {
  for (const [name, value] of [
    ['image[file_id]', 'x'],
    ['file_id', 'x'],
    ['input_reference', '{"file_id":"x"}'],
  ] as const) {
    const form = new FormData();
    form.append('model', 'own/m');
    form.append('prompt', 'a');
    form.append(name, value);
    form.append('image', new Blob(['x'], { type: 'image/png' }), 'x.png');
    const { status, asked } = await call('app', 'POST', '/v1/images/edits', form);
    expect([name, status, asked]).toEqual([name, 400, []]);
  }
});
