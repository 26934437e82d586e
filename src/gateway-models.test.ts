import { describe, expect, test } from 'vitest';
import { idOf, scriptedGateway } from '../test/harness/scripted-gateway.ts';

const scripted = scriptedGateway();

describe('models', () => {
  const all = ['vendor/five', 'vendor/four', 'vendor/one', 'vendor/org/three', 'vendor/two'];
  const get = (url: string, headers?: Record<string, string>) =>
    scripted.send(url, { method: 'GET', ...(headers && { headers }) });
  const version = { 'vendor-version': '2023-06-01' };
  const vendorShape = {
    type: 'model',
    id: 'vendor/one',
    display_name: 'vendor/one',
    created_at: '1970-01-01T00:00:00Z',
  };
  const chatShape = { id: 'vendor/one', object: 'model', created: 0, owned_by: 'vendor' };

  test('are listed in the shape that is asked for', async () => {
    const chat = (await get('/v1/models')).json<{ object: string; data: { id: string }[] }>();
    expect(chat.object).toBe('list');
    expect(chat.data.map(({ id }) => id)).toEqual(all);
    expect(chat.data).toContainEqual(chatShape);
    for (const reply of [await get('/v1/models', version), await get('/anthropic/v1/models')]) {
      idOf(reply);
      expect(reply.json()).toMatchObject({ has_more: false, first_id: all[0], last_id: all[4] });
      expect(reply.json<{ data: unknown[] }>().data).toContainEqual(vendorShape);
    }
  });

  test.each(['vendor/one', 'vendor%2Fone'])('are found as %s', async (id) => {
    expect((await get(`/v1/models/${id}`)).json()).toEqual(chatShape);
    expect((await get(`/v1/models/${id}`, version)).json()).toEqual(vendorShape);
    expect((await get(`/anthropic/v1/models/${id}`)).json()).toEqual(vendorShape);
  });

  test.each(['vendor/org/three', 'vendor%2Forg%2Fthree', 'vendor/org%2Fthree'])('are found as %s', async (id) => {
    expect((await get(`/v1/models/${id}`)).json()).toMatchObject({ id: 'vendor/org/three' });
  });

  test.each(['vendor/none', 'nobody/one', 'vendor', 'vendor/', '/one'])('are not found as %s', async (id) => {
    const chat = await get(`/v1/models/${id}`);
    expect([chat.statusCode, chat.json()]).toMatchObject([
      404,
      { error: { type: 'not_found_error', code: 'model_not_found' } },
    ]);
    const vendor = await get(`/anthropic/v1/models/${id}`);
    expect(vendor.statusCode).toBe(404);
    idOf(vendor);
    expect(vendor.json()).toMatchObject({ error: { type: 'not_found_error' } });
  });

  test.each([
    ['vendor/fuor', 'vendor/four'],
    ['vendr/one', 'vendor/one'],
    ['five', 'vendor/five'],
    ['entirely/other', undefined],
  ])('are told their nearest names: %s is %s', async (id, near) => {
    const { message } = (await get(`/v1/models/${id}`)).json<{ error: { message: string } }>().error;
    expect(/Did you mean (.*)\?$/.exec(message)?.[1]).toBe(near);
  });

  test('need a key, a version of the right shape and sound cursors', async () => {
    const stranger = await scripted.app.inject({ method: 'GET', url: '/anthropic/v1/models' });
    expect(stranger.statusCode).toBe(401);
    idOf(stranger);
    expect((await scripted.app.inject({ method: 'GET', url: '/v1/models' })).json()).toMatchObject({
      error: { code: 'invalid_api_key' },
    });
    for (const reply of [
      await get('/v1/models', { 'vendor-version': 'x' }),
      await get('/anthropic/v1/models?limit=0'),
    ]) {
      expect(reply.statusCode).toBe(400);
      idOf(reply);
    }
    expect((await get('/v1/models?limit=0')).statusCode).toBe(200);
    expect(scripted.sealed).toEqual([]);
  });
});

describe('token counts', () => {
  const count = async (body: object): Promise<number> => {
    const reply = await scripted.send('/v1/messages/count_tokens', {
      body: JSON.stringify({ model: 'vendor/one', ...body }),
    });
    expect([reply.statusCode, Object.keys(reply.json<object>())]).toEqual([200, ['input_tokens']]);
    idOf(reply);
    return reply.json<{ input_tokens: number }>().input_tokens;
  };
  const say = (content: unknown) => ({ messages: [{ role: 'user', content }] });

  test('grow with every text a model reads', async () => {
    const base = await count(say('Hello, world'));
    expect(base).toBeGreaterThan(5);
    expect(base).toBeLessThan(20);
    expect(await count(say('Hello, world. '.repeat(100)))).toBeGreaterThan(base + 300);
    expect(await count({ ...say('Hello, world'), system: 'word '.repeat(100) })).toBeGreaterThanOrEqual(base + 100);
    const schema = { type: 'object', properties: { temperature_in_celsius: { type: 'number' } } };
    expect(await count({ ...say('Hello, world'), tools: [{ name: 't', input_schema: schema }] })).toBeGreaterThan(
      base + 10,
    );
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoA'.repeat(999) },
    };
    const withImage = await count(say([{ type: 'text', text: 'Hello, world' }, image]));
    expect(withImage - base).toBeGreaterThanOrEqual(1600);
    expect(withImage - base).toBeLessThan(1640);
  });

  test('do not count what no model reads', async () => {
    const more = { metadata: { user_id: 'user '.repeat(500) }, max_tokens: 64_000, stream: true };
    expect(await count({ ...say('x'), ...more })).toBe(await count(say('x')));
  });

  test.each([
    ['no JSON', '{'],
    ['no messages', '{"model":"vendor/one"}'],
    ['no model', '{"messages":[{"role":"user","content":"x"}]}'],
    [
      'tool servers',
      '{"model":"vendor/one","messages":[{"role":"user","content":"x"}],"mcp_servers":[{"url":"https://x"}]}',
    ],
  ])('refuse %s', async (_name, body) => {
    for (const url of ['/v1/messages/count_tokens', '/anthropic/v1/messages/count_tokens']) {
      const reply = await scripted.send(url, { body });
      expect(reply.statusCode).toBe(400);
      idOf(reply);
      expect(reply.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
    }
    expect([scripted.served, scripted.sealed]).toEqual([[], []]);
  });

  test('need a key', async () => {
    const reply = await scripted.app.inject({ method: 'POST', url: '/v1/messages/count_tokens', payload: {} });
    expect(reply.statusCode).toBe(401);
    idOf(reply);
  });
});
