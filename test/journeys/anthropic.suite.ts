import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { rowOf } from '../harness/ledger-rows.ts';
import { ANTHROPIC_PACKAGES, anthropicClient } from './clients/anthropic.ts';
import { OFFERED, pagesOf, type World } from './world.ts';

/** What the official Anthropic client has beside conversations, at both addresses. `world`: there once the tests run. */
export function anthropicSuite(world: () => World): void {
  const places = ANTHROPIC_PACKAGES.flatMap(([name, Sdk]) => ['', '/anthropic'].map((below) => ({ name, Sdk, below })));
  describe.each(places)('$name at "$below"', ({ Sdk, below }) => {
    const client = (): Anthropic => anthropicClient(Sdk, world(), below);
    const ask = (model: string) =>
      client().messages.create({ model, max_tokens: 64, messages: [{ role: 'user', content: 'Hello' }] });

    test('answers under the id of the audit row', async () => {
      const { _request_id: id } = await ask('anthropic/claude-sonnet-4-5');
      expect(await rowOf(world().databaseUrl, id)).toMatchObject({ outcome: 'served', surface: 'messages' });
    });

    test('a bare model is the vendor’s own', async () => {
      const before = world().providers.seen.length;
      await ask('claude-sonnet-4-5');
      expect(
        world()
          .providers.seen.slice(before)
          .map(({ kind }) => kind),
      ).toEqual(['anthropic']);
    });

    test.each([
      [403, 'PermissionDeniedError', 'secret/model', 'permission_error'],
      [404, 'NotFoundError', 'absent/model', 'not_found_error'],
    ] as const)('throws %i as its %s', async (status, kind, model, type) => {
      const error: unknown = await ask(model).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Sdk[kind]);
      const { requestID } = error as InstanceType<typeof Anthropic.APIError>;
      expect(error).toMatchObject({ status, error: { error: { type }, request_id: requestID } });
      expect(await rowOf(world().databaseUrl, requestID)).toMatchObject({ outcome: 'refused', status });
    });

    test('throws 400 as its BadRequestError', async () => {
      const refused = client().messages.create({ model: 'anthropic/m', max_tokens: 64, messages: [] });
      await expect(refused).rejects.toBeInstanceOf(Sdk.BadRequestError);
    });

    test('throws 401 as its AuthenticationError', async () => {
      const stranger = anthropicClient(Sdk, { url: world().url, key: 'gw_test_nobody' }, below);
      await expect(stranger.models.list()).rejects.toBeInstanceOf(Sdk.AuthenticationError);
    });

    test('counts tokens without asking anybody', async () => {
      const before = world().providers.seen.length;
      const count = async (content: string): Promise<number> => {
        const messages = [{ role: 'user' as const, content }];
        return (await client().messages.countTokens({ model: 'anthropic/claude-sonnet-4-5', messages })).input_tokens;
      };
      const [few, many] = [await count('Hello'), await count('Hello '.repeat(100))];
      expect(few).toBeGreaterThan(0);
      expect(many).toBeGreaterThan(few + 90);
      expect(world().providers.seen).toHaveLength(before);
    });

    test('reads on through pages of models', async () => {
      const pages: number[] = [];
      const ids: string[] = [];
      let page = await client().models.list({ limit: 20 });
      for (;;) {
        pages.push(page.data.length);
        if (!page.hasNextPage()) break;
        page = await page.getNextPage();
      }
      for await (const { id } of client().models.list()) ids.push(id);
      expect(ids).toEqual(expect.arrayContaining([...OFFERED]));
      expect(ids).toEqual([...new Set(ids)].sort());
      expect(pages).toEqual(pagesOf(ids.length));
    });

    test('gets one model', async () => {
      expect(await client().models.retrieve('listed/model-03')).toMatchObject({ id: 'listed/model-03', type: 'model' });
    });
  });

  describe('conversations that the provider would keep', () => {
    const [[, Sdk]] = ANTHROPIC_PACKAGES;
    const fields = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 64 };

    test('are refused in words that the client goes on from', async () => {
      const before = world().providers.seen.length;
      const thread = anthropicClient(Sdk, world()).beta.messages.thread({
        ...fields,
        unsupportedRequestBehavior: 'continue_unthreaded',
      });
      await thread.send({ role: 'user', content: 'Mail ada@example.com' });
      await thread.send({ role: 'user', content: 'And bob@example.com' });
      const sent = world()
        .providers.seen.slice(before)
        .map(({ body }) => body.toString('utf8'));
      expect(sent).toHaveLength(2);
      expect(sent.join()).not.toMatch(/"thread"|@example/);
      // Tags are numbered over the whole conversation: one name, one person.
      expect(sent[1]).toMatch(/Mail «EMAIL_1».*And «EMAIL_2»/);
    });

    test('are refused as such where the application insists', async () => {
      const thread = anthropicClient(Sdk, world()).beta.messages.thread(fields);
      const error: unknown = await thread.send({ role: 'user', content: 'Hi' }).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Sdk.BadRequestError);
      expect(error).toMatchObject({ errorCode: 'thread_unsupported_request' });
    });
  });
}
