import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { newKey, resource, startGateway, tenant } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { KINDS } from '../matrix/kinds/kinds.ts';
import { at } from '../matrix/vocabulary.ts';
import { bearer, organization, parts, startSpecWorld, type SpecWorld } from './world.ts';

/** Section 4.3: one request, as every kind of provider is asked it; caches; sound. */

const otherKey = newKey();
const PROMPT_CACHE = { dlp: { mode: 'AllowLog' }, caching: { promptCache: 'Enabled' } };
const RESPONSE_CACHE = {
  dlp: { mode: 'AllowLog' },
  contentRetention: 'Enabled',
  caching: {
    promptCache: 'Enabled',
    responseCache: { mode: 'Enabled', ttlSeconds: 600 },
  },
};
const modelOf = (name: string): string => `${name}/${KINDS.find((kind) => kind.name === name)?.model}`;

let world: SpecWorld;
beforeAll(async () => {
  world = await startSpecWorld({
    applications: {
      open: { policy: { dlp: { mode: 'AllowLog' } } },
      caching: { policy: PROMPT_CACHE },
      careful: { policy: { ...PROMPT_CACHE, dlp: { mode: 'Tokenize' } } },
      repeating: { policy: RESPONSE_CACHE },
      blocking: { policy: { dlp: { mode: 'Block' } } },
      masking: { policy: { dlp: { mode: 'Mask' } } },
    },
    prices: ['openai', 'azure', 'groq'].map((vendor) => ({
      model: `managed-${vendor}/*`,
      input: '2',
      output: '8',
      cacheRead: '1',
    })),
    more: ({ providers }) => [
      ...organization('other', otherKey),
      resource('Policy', 'other', { targetRefs: [{ kind: 'Workload', name: 'other' }], defaults: RESPONSE_CACHE }),
      ...['openai', 'azure', 'groq'].map((vendor) =>
        resource('Provider', `managed-${vendor}`, {
          slug: `managed-${vendor}`,
          vendor,
          keyOwnership: 'Managed',
          jurisdiction: 'EU',
          endpoint: { url: `${providers}/${vendor}${vendor === 'azure' ? '' : '/v1'}`, allowInsecure: true },
          credentials: [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'custom' } }],
          ...(vendor === 'azure' && { models: [{ id: 'gpt-4o', upstreamId: 'deployed' }] }),
        }),
      ),
    ],
  });
}, 60_000);
afterAll(() => world?.[Symbol.asyncDispose]());
beforeEach(() => {
  world.answers.clear();
  world.answers.set('bedrock', () => ({ body: CONVERSE }));
});

/** What a model says in the converse format. */
const CONVERSE = {
  output: { message: { role: 'assistant', content: [{ text: 'ok' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  metrics: { latencyMs: 1 },
};

const cache_control = { type: 'ephemeral', ttl: '1h' };
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } }, cache_control };
const MARKED = {
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'Be kind.', cache_control }] },
    { role: 'user', content: [{ type: 'text', text: 'Mail ada@example.com', cache_control }] },
  ],
  tools: [TOOL],
  prompt_cache_key: 'my-key',
};
/** What a kind is sent of the marked request. */
async function marked(kind: string, as = 'caching', slug = kind): Promise<string> {
  const model = slug === kind ? modelOf(kind) : modelOf(kind).replace(kind, slug);
  const answer = await world.chat({ model, ...MARKED }, { as });
  expect(answer.status, kind).toBe(200);
  return JSON.stringify(world.sentTo(kind).at(-1));
}
const markers = (sent: string): number => sent.match(/"cache_control":\{"type":"ephemeral","ttl":"1h"\}/g)?.length ?? 0;

const CHAT_USAGE = {
  prompt_tokens: 1100,
  completion_tokens: 10,
  total_tokens: 1110,
  prompt_tokens_details: { cached_tokens: 1000 },
};
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
  usage: CHAT_USAGE,
};
const MESSAGE_USAGE = {
  input_tokens: 100,
  cache_read_input_tokens: 1000,
  cache_creation_input_tokens: 200,
  cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 0 },
  output_tokens: 10,
};
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'ok' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: MESSAGE_USAGE,
};

test('4.3/1 2.2/9 effort is a level of thinking here, adaptive thinking there, and left out where it is refused', async () => {
  const effort = async (kind: string, reasoning_effort: string): Promise<unknown> => {
    const answer = await world.chat({ model: modelOf(kind), reasoning_effort }, { as: 'open' });
    expect([kind, reasoning_effort, answer.status]).toEqual([kind, reasoning_effort, 200]);
    return world.sentTo(kind).at(-1);
  };
  for (const level of ['minimal', 'low', 'medium', 'high']) {
    const gemini = await effort('gemini', level);
    expect(at(gemini, 'generationConfig', 'thinkingConfig', 'thinkingLevel')).toBe(level.toUpperCase());
  }
  const claude = await effort('anthropic', 'high');
  expect(claude).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });
  expect(await effort('openai', 'high')).toMatchObject({ reasoning_effort: 'high' });
  expect(JSON.stringify(await effort('xai', 'high'))).not.toContain('effort');
});

test('4.3/1 2.2/9 no effort is refused, whatever the provider and its model', async () => {
  for (const { name, refused } of KINDS) {
    if (refused !== undefined) continue;
    for (const reasoning_effort of ['minimal', 'low', 'medium', 'high']) {
      const answer = await world.chat({ model: modelOf(name), reasoning_effort }, { as: 'open' });
      expect([name, reasoning_effort, answer.status]).toEqual([name, reasoning_effort, 200]);
    }
  }
});

test('4.3/7 markers in odd places, and other words of another vendor, are refused nowhere', async () => {
  const messages = [
    { role: 'user', content: 'Hi', cache_control },
    { role: 'assistant', content: [{ type: 'text', text: 'Yes?', cache_control }] },
    { role: 'user', content: [{ type: 'text', text: 'Go on' }] },
  ];
  const odd = { messages, cache_control, thinking: { type: 'adaptive' }, safety_identifier: 'a', verbosity: 'low' };
  for (const { name, refused } of KINDS) {
    if (refused !== undefined) continue;
    const answer = await world.chat({ model: modelOf(name), ...odd }, { as: 'caching' });
    expect([name, answer.status, answer.ok ? '' : await answer.text()]).toEqual([name, 200, '']);
  }
});

test('4.3/2 2.2/10 2.2/11 one marked request is taken for every kind of provider', async () => {
  for (const { name, refused } of KINDS) if (refused === undefined) await marked(name);
});

test('4.3/3 the messages vendor gets breakpoints on system, message and tool with their ttl; reads and writes are told', async () => {
  expect(markers(await marked('anthropic'))).toBe(3);
  for (const ttl of ['5m', '1h']) {
    const body = parts({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl } });
    await world.chat({ model: modelOf('anthropic'), ...body }, { as: 'caching' });
    expect(world.sentTo('anthropic').at(-1)).toMatchObject(body);
  }
  world.answers.set('anthropic', () => ({ body: message }));
  const answer = await world.message({ model: modelOf('anthropic') }, { as: 'caching' });
  expect(((await answer.json()) as typeof message).usage).toEqual(MESSAGE_USAGE);
});

test('4.3/4 in the converse format markers are cachePoint blocks in system, messages and tools', async () => {
  const sent = JSON.parse(await marked('bedrock')) as object;
  const hasPoint = (...path: readonly (string | number)[]): boolean =>
    JSON.stringify(at(sent, ...path)).includes('"cachePoint"');
  expect([hasPoint('system'), hasPoint('messages'), hasPoint('toolConfig', 'tools')]).toEqual([true, true, true]);
  expect(JSON.stringify(sent)).not.toContain('cache_control');
});

test('4.3/5 the chat vendor and its cloud get no markers, and prompt_cache_key as it is', async () => {
  for (const kind of ['openai', 'azure']) {
    const sent = await marked(kind);
    expect(sent).not.toContain('cache_control');
    expect(JSON.parse(sent)).toMatchObject({ prompt_cache_key: 'my-key' });
  }
});

test('4.3/6 the multimodal vendor tells its cached share; Claude on its cloud takes markers with their ttl', async () => {
  const usageMetadata = { promptTokenCount: 1100, candidatesTokenCount: 10, cachedContentTokenCount: 1000 };
  const candidates = [{ index: 0, content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }];
  for (const kind of ['gemini', 'vertex-gemini']) {
    expect(await marked(kind)).not.toContain('cache_control');
    world.answers.set(kind, ({ path }) =>
      path.includes('enerateContent') ? { body: { candidates, usageMetadata } } : undefined,
    );
    const answer = await world.chat({ model: modelOf(kind) }, { as: 'caching' });
    const { usage } = (await answer.json()) as typeof completion;
    expect(usage).toMatchObject({ prompt_tokens: 1100, prompt_tokens_details: { cached_tokens: 1000 } });
  }
  expect(markers(await marked('vertex-claude'))).toBe(3);
});

test('4.3/7 other vendors get no markers and refuse nothing that was written for another', async () => {
  for (const kind of [
    'mistral',
    'deepseek',
    'xai',
    'groq',
    'together',
    'fireworks',
    'cerebras',
    'nebius',
    'scaleway',
  ]) {
    expect(await marked(kind)).not.toContain('cache_control');
  }
});

test('4.3/8 regional providers without a cache get no directive; answers are cached by the gateway', async () => {
  for (const kind of ['ionos', 'ovhcloud']) {
    const sent = await marked(kind);
    expect(sent).not.toContain('cache_control');
    expect(sent).not.toContain('prompt_cache_key');
  }
  const ask = (): Promise<Response> => world.chat({ model: modelOf('ionos') }, { as: 'repeating' });
  expect((await ask()).status).toBe(200);
  await expect.poll(async () => (await ask()).headers.get('x-gw-cache')).toBe('hit');
});

test('4.3/9 a custom endpoint gets both directives as they are', async () => {
  const sent = await marked('custom');
  expect(markers(sent)).toBe(3);
  expect(JSON.parse(sent)).toMatchObject({ prompt_cache_key: 'my-key' });
});

test('4.3/10 without the opt-in no directive is sent; with it, after data protection', async () => {
  for (const kind of ['anthropic', 'bedrock', 'vertex-claude', 'openai', 'azure']) {
    expect(await marked(kind, 'open'), kind).not.toMatch(/cache_control|cachePoint|prompt_cache_key/);
  }
  const sent = await marked('anthropic', 'careful');
  expect(markers(sent)).toBe(3);
  expect(sent).toContain('Mail «EMAIL_1»');
  expect(sent).not.toContain('ada@');
});

test('4.3/11 an account of the installation has a cache key for each organization, and shows cached tokens of OpenAI alone', async () => {
  for (const kind of ['openai', 'groq']) {
    world.answers.set(kind, () => ({ body: completion }));
    const answer = await world.chat({ model: `managed-${kind}/gpt-4o`, ...MARKED }, { as: 'caching' });
    const told = (await answer.clone().json()) as typeof completion;
    const cached = kind === 'openai' ? 1000 : 0;
    expect(told.usage).toMatchObject({ prompt_tokens: 1100, prompt_tokens_details: { cached_tokens: cached } });
    // 100 × 2 + 1000 × 1 + 10 × 8 euro per million, whatever is shown.
    expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '1280000' });
  }
  const keyOf = async (kind: string, asking: object): Promise<unknown> => {
    world.answers.set(kind, () => ({ body: completion }));
    expect((await world.chat({ model: `managed-${kind}/gpt-4o`, ...MARKED }, asking)).status).toBe(200);
    return at(world.sentTo(kind).at(-1), 'prompt_cache_key');
  };
  for (const kind of ['openai', 'azure']) {
    const derived = await keyOf(kind, { as: 'caching' });
    expect(derived).toMatch(/^\S{16,}$/);
    expect(derived).not.toBe('my-key');
    expect(await keyOf(kind, { as: 'careful' })).toBe(derived);
    const others = await keyOf(kind, bearer(otherKey));
    expect(others).toMatch(/^\S{16,}$/);
    expect(others).not.toBe(derived);
  }
});

test('4.3/12 cache reads cost the discounted rate, writes the input rate and a premium', async () => {
  world.answers.set('anthropic', () => ({ body: message }));
  const answer = await world.message({ model: modelOf('anthropic') }, { as: 'caching' });
  // 100 × 2 + 1000 × 1 + 200 × (2 + 0.5) + 10 × 8 euro per million.
  expect(await world.row(answer)).toMatchObject({ cost_nano_eur: '1780000' });
});

test('4.3/13 the response cache is an opt-in that needs content retention, and of one organization', async () => {
  const { contentRetention: _without, ...policy } = RESPONSE_CACHE;
  const resources = tenant({ upstreamUrl: world.upstream.url, key: newKey(), policy });
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  await expect(startGateway({ resources, databaseUrl })).rejects.toThrow('contentRetention');
  const ask = (asking: object): Promise<Response> => world.chat({ seed: 13 }, asking);
  const before = world.upstream.requests.length;
  await expect.poll(async () => (await ask({ as: 'repeating' })).headers.get('x-gw-cache')).toBe('hit');
  expect((await ask(bearer(otherKey))).headers.get('x-gw-cache')).toBe('miss');
  expect((await ask({ as: 'open' })).headers.get('x-gw-cache')).toBeNull();
  // One that filled it, or few before it was stored, and those two.
  expect(world.upstream.requests.length - before).toBeGreaterThanOrEqual(3);
});

test('4.3/14 4.3/15 an identical request comes from the cache: exact, sent to nobody, for nothing', async () => {
  world.upstream.respond(chat({ content: 'Once.' }));
  const ask = (): Promise<Response> => world.chat({ seed: 14 }, { as: 'repeating' });
  const first = await ask();
  expect(await world.row(first)).toMatchObject({ cache_hit: 'none' });
  let second = await ask();
  for (let tries = 0; second.headers.get('x-gw-cache') !== 'hit' && tries < 100; tries++) second = await ask();
  const sent = world.upstream.requests.length;
  const third = await ask();
  expect(await third.clone().text()).toBe(await first.text());
  expect(await world.row(third)).toMatchObject({ cache_hit: 'exact', cost_nano_eur: '0', usage: null });
  expect(world.upstream.requests).toHaveLength(sent);
  expect(await world.row(await world.chat({ seed: 15 }, { as: 'open' }))).toMatchObject({ cache_hit: 'none' });
});

test('4.3/24 2.2/6 sound is refused under block, and named as unscanned otherwise', async () => {
  const sound = parts({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } });
  expect((await world.chat(sound, { as: 'blocking' })).status).toBe(422);
  for (const as of ['open', 'masking', 'careful']) {
    const answer = await world.chat(sound, { as });
    expect([answer.status, answer.headers.get('x-gw-unscanned')]).toEqual([200, expect.stringContaining('audio')]);
  }
});
