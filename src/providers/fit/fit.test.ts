import { afterAll, describe, expect, test } from 'vitest';
import type { ProviderConfig } from '#/config/snapshot.ts';
import type { VendorId } from '#/vendors/list.ts';
import type { FitContext } from '#/ports/provider.ts';
import { readDocument, render, type Family } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { createProviders } from '../registry.ts';
import { configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';
import { MESSAGES, TOOLS, MAXIMAL, plus, without } from '../testing/maximal-chat.ts';

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

interface Fitted {
  readonly text: string;
  readonly body: JsonObject;
  readonly losses: readonly string[];
}

function fitText(
  config: ProviderConfig,
  text: string,
  context: Partial<FitContext> = {},
  family: Family = 'chat',
): Fitted {
  const document = readDocument(family, text);
  const losses: string[] = [];
  const edits = providers(config)!.fit(
    document,
    {
      model: document.body['model'] as string,
      stream: document.body['stream'] === true,
      includeUsage: false,
      promptCache: false,
      organizationCacheKey: 'org-key',
      ...context,
    },
    (what) => void losses.push(what),
  );
  const rendered = render(text, edits);
  return { text: rendered, body: JSON.parse(rendered) as JsonObject, losses: losses.toSorted() };
}

function fit(
  config: ProviderConfig,
  body: JsonObject,
  context: Partial<FitContext> = {},
  family: Family = 'chat',
): Fitted {
  return fitText(config, JSON.stringify({ model: 'some-model', ...body }), context, family);
}

const chat = (vendor: VendorId, model: string, body: JsonObject, context: Partial<FitContext> = {}) =>
  fit(configOf(vendor), { model, messages: MESSAGES, ...body }, context);

describe('what is left of everything a client might write', () => {
  test.each<readonly [VendorId, readonly string[], string]>([
    ['mistral', plus('max_tokens', 'metadata', 'n', 'prediction', 'random_seed', 'service_tier'), 'content,role'],
    ['groq', without(plus('max_tokens', 'seed', 'stream_options', 'user'), 'n'), 'content,name,role'],
    [
      'cerebras',
      without(
        plus('logprobs', 'max_tokens', 'seed', 'stream_options', 'top_logprobs', 'user'),
        'presence_penalty',
        'frequency_penalty',
      ),
      'content,name,role',
    ],
    [
      'deepseek',
      without(plus('logprobs', 'max_tokens', 'stream_options', 'top_logprobs'), 'parallel_tool_calls'),
      'content,name,role',
    ],
    [
      'scaleway',
      plus('logit_bias', 'logprobs', 'max_tokens', 'n', 'seed', 'stream_options', 'top_logprobs'),
      'content,name,role',
    ],
    [
      'ovhcloud',
      without(plus('logit_bias', 'logprobs', 'max_tokens', 'n', 'seed', 'top_logprobs', 'user'), 'parallel_tool_calls'),
      'content,name,role',
    ],
    ['xai', plus('logprobs', 'max_tokens', 'n', 'seed', 'stream_options', 'top_logprobs', 'user'), 'content,name,role'],
    [
      'together',
      plus('logit_bias', 'logprobs', 'max_tokens', 'n', 'seed', 'stream_options', 'user'),
      'content,name,role',
    ],
    [
      'fireworks',
      plus(
        'logit_bias',
        'logprobs',
        'max_tokens',
        'metadata',
        'n',
        'prediction',
        'reasoning_effort',
        'seed',
        'stream_options',
        'top_logprobs',
        'user',
      ),
      'content,name,role',
    ],
    [
      'ionos',
      plus('logit_bias', 'logprobs', 'max_tokens', 'n', 'seed', 'stream_options', 'top_logprobs', 'user'),
      'content,name,role',
    ],
    [
      'nebius',
      plus('logit_bias', 'logprobs', 'max_tokens', 'n', 'seed', 'stream_options', 'top_logprobs', 'user'),
      'content,name,role',
    ],
  ])('%s', (vendor, left, ofUser) => {
    const { body, losses } = fit(configOf(vendor), MAXIMAL);
    expect(Object.keys(body).toSorted()).toEqual([...left].toSorted());
    const messages = body['messages'] as readonly JsonObject[];
    expect(Object.keys(messages[1]!).toSorted().join(',')).toBe(ofUser);
    expect((messages[1]!['content'] as readonly unknown[])[0]).toEqual({ type: 'text', text: 'hi' });
    expect(Object.keys(messages[2]!)).not.toContain('encrypted_content');
    // Nothing goes without being named, save what said nothing and what goes by another name.
    const gone = Object.keys(MAXIMAL).filter((name) => !(name in body) && MAXIMAL[name] !== null);
    const renamed = new Set(['max_completion_tokens', ...('random_seed' in body ? ['seed'] : [])]);
    for (const name of gone) expect(losses.includes(name) || renamed.has(name), name).toBe(true);
    expect(losses).toContain('cache_control');
    expect(new Set(losses).size).toBe(losses.length);
  });

  test('OpenAI and Azure get every member, save those of the prompt cache without the opt-in', () => {
    for (const vendor of ['openai', 'azure'] as const) {
      const { body, losses } = fit(configOf(vendor), MAXIMAL, { includeUsage: true });
      expect(losses).toEqual(['cache_control', 'prompt_cache_key', 'prompt_cache_retention']);
      expect(Object.keys(body)).toEqual(
        Object.keys({ model: 0, ...MAXIMAL }).filter((name) => !name.startsWith('prompt_cache')),
      );
      expect(body['stream_options']).toEqual({ include_usage: true, include_obfuscation: vendor === 'azure' });
    }
  });

  test("a server of one's own gets what was written, markers and unknown members too", () => {
    const asked = JSON.stringify({ model: 'm', ...MAXIMAL });
    expect(fitText(configOf('custom'), asked, { includeUsage: true })).toMatchObject({ text: asked, losses: [] });
    expect(fit(configOf('custom'), { ...MAXIMAL, stream_options: null }).body).toEqual({
      model: 'some-model',
      ...MAXIMAL,
      stream_options: { include_usage: true },
    });
  });

  test('but not what its configuration says that a model refuses', () => {
    const config = configOf('custom', { models: [{ id: 'some-model', rejects: ['mystery', 'user'] }] });
    const { body, losses } = fit(config, MAXIMAL);
    expect([body['mystery'], body['user'], losses]).toEqual([undefined, undefined, ['mystery', 'user']]);
  });

  test('bytes that nothing is said about stay as they are', () => {
    const text = '{ "model":"gpt-4o" ,\n "temperature" : 1.0, "messages":[{"role":"user","content":"\\u00e9"}] }';
    expect(fitText(configOf('openai'), text).text).toBe(text);
  });
});

describe('usage of streams', () => {
  const asked = (vendor: VendorId, options: JsonObject | null | undefined, includeUsage = false) =>
    chat(vendor, 'm', { stream: true, ...(options !== undefined && { stream_options: options }) }, { includeUsage })
      .body['stream_options'];

  test.each<readonly [VendorId, JsonObject | null | undefined, JsonObject | undefined]>([
    ['openai', undefined, { include_usage: true, include_obfuscation: false }],
    ['openai', null, { include_usage: true, include_obfuscation: false }],
    ['openai', {}, { include_usage: true, include_obfuscation: false }],
    ['openai', { include_usage: false }, { include_usage: true, include_obfuscation: false }],
    ['openai', { later: 1 }, { later: 1, include_usage: true, include_obfuscation: false }],
    ['groq', undefined, { include_usage: true }],
    ['groq', { include_obfuscation: false }, { include_usage: true }],
    ['azure', { include_obfuscation: false }, { include_usage: true, include_obfuscation: false }],
    ['mistral', { include_usage: true }, undefined],
    ['ovhcloud', undefined, undefined],
    ['custom', { include_usage: false }, { include_usage: true }],
  ])('%s %j', (vendor, options, expected) => {
    expect(asked(vendor, options)).toEqual(expected);
  });

  test('is not asked for without a stream', () => {
    expect(chat('openai', 'm', {}).body).not.toHaveProperty('stream_options');
  });

  test('is asked for in legacy completions too', () => {
    const { body } = fit(configOf('openai'), { prompt: 'a', stream: true }, {}, 'completions');
    expect(body['stream_options']).toMatchObject({ include_usage: true });
  });
});

describe('what a model takes', () => {
  test.each<readonly [VendorId, string, JsonObject, JsonObject, readonly string[]]>([
    ['openai', 'gpt-5', { max_tokens: 9 }, { max_completion_tokens: 9 }, []],
    ['openai', 'gpt-5', { max_tokens: 9, max_completion_tokens: 8 }, { max_completion_tokens: 8 }, []],
    ['groq', 'llama-3.3-70b', { max_completion_tokens: 9 }, { max_tokens: 9 }, []],
    ['openai', 'o3', { temperature: 0, stop: 'x', seed: 1 }, { seed: 1 }, ['stop', 'temperature']],
    [
      'openai',
      'gpt-5.1',
      { temperature: 0, reasoning_effort: 'none' },
      { temperature: 0, reasoning_effort: 'none' },
      [],
    ],
    ['openai', 'gpt-5.1', { temperature: 0, reasoning_effort: 'low' }, { reasoning_effort: 'low' }, ['temperature']],
    ['openai', 'gpt-5', { reasoning_effort: 'none' }, { reasoning_effort: 'minimal' }, []],
    ['openai', 'gpt-5.1', { reasoning_effort: 'max' }, { reasoning_effort: 'high' }, []],
    ['openai', 'gpt-4o', { reasoning_effort: 'low' }, {}, ['reasoning_effort']],
    [
      'openai',
      'gpt-6-sol',
      { prompt_cache_retention: '24h', logit_bias: {} },
      {},
      ['logit_bias', 'prompt_cache_retention'],
    ],
    ['mistral', 'mistral-small', { reasoning_effort: 'low' }, {}, ['reasoning_effort']],
    ['mistral', 'mistral-large-4', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'high' }, []],
    ['mistral', 'magistral-medium', {}, { prompt_mode: 'reasoning' }, []],
    ['mistral', 'mistral-small', { temperature: 1.8 }, { temperature: 1.5 }, ['temperature']],
    ['mistral', 'mistral-small', { service_tier: 'flex' }, {}, ['service_tier']],
    ['mistral', 'mistral-small', { service_tier: 'default' }, { service_tier: 'standard_only' }, []],
    [
      'groq',
      'qwen/qwen3-32b',
      { reasoning_effort: 'low' },
      { reasoning_effort: 'default', reasoning_format: 'parsed' },
      [],
    ],
    ['groq', 'openai/gpt-oss-120b', { reasoning_effort: 'none' }, { reasoning_effort: 'low' }, []],
    ['deepseek', 'deepseek-v4', { reasoning_effort: 'medium' }, { reasoning_effort: 'high' }, []],
    ['deepseek', 'deepseek-v4', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }, []],
    ['xai', 'grok-4', { reasoning_effort: 'low', stop: ['x'] }, {}, ['reasoning_effort', 'stop']],
    ['xai', 'grok-3-mini', { reasoning_effort: 'medium' }, {}, ['reasoning_effort']],
    ['fireworks', 'anything', { reasoning_effort: 'xhigh' }, { reasoning_effort: 'high' }, []],
    ['scaleway', 'mistral-medium', { reasoning_effort: 'low' }, { reasoning_effort: 'high' }, []],
    ['openai', 'gpt-4o', { stop: ['a', 'b', 'c', 'd', 'e', 'f'] }, { stop: ['a', 'b', 'c', 'd'] }, ['stop']],
    [
      'ovhcloud',
      'm',
      { tools: TOOLS },
      { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }] },
      [],
    ],
  ])('%s %s %j', (vendor, model, asked, left, losses) => {
    const cached = { promptCache: true };
    expect(chat(vendor, model, asked, cached)).toMatchObject({ body: { model, messages: MESSAGES, ...left }, losses });
    expect(Object.keys(chat(vendor, model, asked, cached).body).toSorted()).toEqual(
      ['model', 'messages', ...Object.keys(left)].toSorted(),
    );
  });

  test("an instruction's role is called what the model calls it", () => {
    const roles = (vendor: VendorId, model: string) =>
      (
        chat(vendor, model, {
          messages: [
            { role: 'system', content: 'a' },
            { role: 'developer', content: 'b' },
          ],
        }).body['messages'] as readonly JsonObject[]
      ).map(({ role }) => role);
    expect(roles('openai', 'gpt-5.2')).toEqual(['developer', 'developer']);
    expect(roles('mistral', 'mistral-small')).toEqual(['system', 'system']);
    expect(roles('custom', 'gpt-5.2')).toEqual(['system', 'developer']);
  });

  test('content that must be one text becomes one, with its markers gone', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const parts = [
      { type: 'text', text: 'a "b"', ...mark },
      { ...mark, type: 'text', text: 'c' },
    ];
    const image = [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }];
    const { body } = chat('together', 'zai-org/glm-4.6', {
      messages: [
        { role: 'user', content: parts },
        { role: 'user', content: image },
        { role: 'user', content: [] },
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: 'a "b"\n\nc' },
      { role: 'user', content: image },
      { role: 'user', content: [] },
    ]);
  });

  test('members next to each other go without leaving a comma behind, wherever they stand', () => {
    const names = ['cache_control', 'reasoning_content', 'role', 'content', 'extra'];
    for (let turn = 0; turn < names.length; turn++) {
      const order = [...names.slice(turn), ...names.slice(0, turn)];
      const values: JsonObject = { cache_control: {}, reasoning_content: 'x', role: 'user', content: 'hi', extra: 1 };
      const message = Object.fromEntries(order.map((name) => [name, values[name]]));
      const top = {
        user: 'u',
        store: true,
        messages: [message],
        mystery: 1,
        model: 'm',
        metadata: null,
        cache_control: {},
      };
      const { body } = fitText(configOf('groq'), JSON.stringify(top));
      expect(body).toEqual({ user: 'u', messages: [{ role: 'user', content: 'hi' }], model: 'm' });
    }
  });
});

describe('the responses family', () => {
  const responses = (vendor: VendorId, model: string, body: JsonObject, over: Partial<ProviderConfig> = {}) => {
    const { models: _, ...rest } = over;
    return fit(configOf(vendor, rest), { model, input: 'hi', ...body }, { promptCache: true }, 'responses');
  };

  test.each<readonly [VendorId, string, JsonObject, JsonObject]>([
    [
      'openai',
      'gpt-5',
      { reasoning: { effort: 'none', summary: 'auto' } },
      { reasoning: { effort: 'minimal', summary: 'auto' } },
    ],
    ['openai', 'gpt-4o', { reasoning: { effort: 'low' } }, { reasoning: {} }],
    [
      'openai',
      'gpt-5.1',
      { temperature: 1, reasoning: { effort: 'none' } },
      { temperature: 1, reasoning: { effort: 'none' } },
    ],
    ['openai', 'gpt-5.1', { temperature: 1 }, {}],
    ['openai', 'gpt-5.2', { top_logprobs: 3 }, {}],
    ['scaleway', 'm', { store: true, metadata: {}, user: 'u', prompt_cache_key: 'k', text: {} }, { text: {} }],
    ['openai', 'gpt-4o', { store: true }, { store: true }],
  ])('%s %s %j', (vendor, model, asked, left) => {
    expect(responses(vendor, model, asked).body).toEqual({ model, input: 'hi', ...left });
  });

  test('stores nothing on a managed account', () => {
    const managed = { keyOwnership: 'managed' } as const;
    for (const asked of [{}, { store: true }, { store: null }]) {
      expect(responses('openai', 'gpt-4o', asked, managed).body['store']).toBe(false);
    }
    expect(responses('scaleway', 'm', {}, managed).body).not.toHaveProperty('store');
  });
});

describe('other families', () => {
  test("embeddings go in Mistral's words", () => {
    const asked = { input: ['a'], dimensions: 8, encoding_format: 'base64', user: 'u' };
    const { body, losses } = fit(configOf('mistral'), asked, {}, 'embeddings');
    expect(body).toEqual({ model: 'some-model', input: ['a'], output_dimension: 8 });
    expect(losses).toEqual(['encoding_format', 'user']);
  });

  test('messages keep everything but what the prompt cache rule takes', () => {
    const body = {
      cache_control: { type: 'ephemeral' },
      system: [{ type: 'text', text: 's', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [{ role: 'user', content: [{ cache_control: {}, type: 'text', text: 'hi' }] }],
      tools: [{ name: 'f', input_schema: { properties: { cache_control: { type: 'string' } } }, cache_control: {} }],
      temperature: 1,
      unheard_of: true,
    };
    const on = fit(configOf('anthropic'), body, { promptCache: true }, 'messages');
    expect(on).toMatchObject({ body: { model: 'some-model', ...body }, losses: [] });
    const off = fit(configOf('anthropic'), { ...body, model: 'claude-opus-5' }, {}, 'messages');
    expect(off.losses).toEqual(['cache_control']);
    expect(off.body).toEqual({
      model: 'claude-opus-5',
      system: [{ type: 'text', text: 's' }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      tools: [{ name: 'f', input_schema: { properties: { cache_control: { type: 'string' } } } }],
      temperature: 1,
      unheard_of: true,
    });
  });
});
