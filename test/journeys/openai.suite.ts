import { toFile, type OpenAI } from 'openai';
import { beforeAll, describe, expect, test } from 'vitest';
import { rowOf } from '../harness/ledger-rows.ts';
import { OPENAI_PACKAGES, openaiClient } from './clients/openai.ts';
import { MEDIA_TESTS } from './openai-media.ts';
import { VECTOR } from './vendor-answers.ts';
import { OFFERED, TALKING, type World } from './world.ts';

const BATCH = Buffer.from('{"custom_id":"1"}\n');

/** What the official OpenAI client has beside conversations. `world`: there once the tests run. */
export function openaiSuite(world: () => World): void {
  describe.each(OPENAI_PACKAGES)('%s', (_name, Sdk) => {
    let client: OpenAI;
    beforeAll(() => {
      client = openaiClient(Sdk, world());
    });

    const ask = (model: string) =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] });

    test.each([
      [400, 'BadRequestError', 'gpt-4.1-mini', 'model_not_prefixed'],
      [403, 'PermissionDeniedError', 'secret/model', 'permission_denied'],
      [404, 'NotFoundError', 'absent/model', 'model_not_found'],
    ] as const)('throws %i as its %s', async (status, kind, model, code) => {
      const error: unknown = await ask(model).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Sdk[kind]);
      expect(error).toMatchObject({ status, code });
      const id = (error as InstanceType<typeof OpenAI.APIError>).requestID;
      expect(await rowOf(world().databaseUrl, id)).toMatchObject({ outcome: 'refused', status, code });
    });

    test('throws 401 as its AuthenticationError', async () => {
      const stranger = openaiClient(Sdk, { url: world().url, key: 'gw_test_nobody' });
      const error: unknown = await stranger.models.list().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Sdk.AuthenticationError);
      expect(error).toMatchObject({ status: 401, code: 'invalid_api_key' });
    });

    test('lists models and gets one', async () => {
      const ids: string[] = [];
      for await (const { id } of client.models.list()) ids.push(id);
      // Beside them stand what catalogue and prices know of the vendors, each once and in order.
      expect(ids).toEqual(expect.arrayContaining([...OFFERED]));
      expect(ids).toEqual([...new Set(ids)].sort());
      expect(await client.models.retrieve('listed/model-03')).toMatchObject({ id: 'listed/model-03', object: 'model' });
    });

    describe.each(['openai/text-embedding-3-small', 'gemini/gemini-embedding-001', 'mistral/mistral-embed'])(
      'embeddings of %s',
      (model) => {
        // The client asks for base64 by itself, and decodes it.
        test.each([undefined, 'float', 'base64'] as const)('as %s', async (encoding) => {
          const before = world().providers.seen.length;
          const { data } = await client.embeddings.create({
            model,
            input: ['Ada lives at ada@example.com', 'Lunch'],
            ...(encoding && { encoding_format: encoding }),
          });
          const wanted = encoding === 'base64' ? toBase64(VECTOR) : [...VECTOR];
          expect(data.map(({ embedding }) => embedding)).toEqual([wanted, wanted]);
          const sent = world()
            .providers.seen.slice(before)
            .map(({ body }) => body.toString('utf8'));
          expect(sent.join()).toContain('Ada lives at «EMAIL_1»');
          expect(sent.join()).not.toContain('ada@example.com');
        });
      },
    );

    test('goes on in a conversation that the provider keeps, unless a tag could be mistaken there', async () => {
      const model = TALKING.find(({ name }) => name === 'openai')?.model;
      const first = await client.responses.create({ model: `openai/${model}`, input: 'Hello' });
      const goOn = (input: string) =>
        client.responses.create({ model: `openai/${model}`, input, previous_response_id: first.id });
      expect((await goOn('And then?')).output_text).toBe('You said: And then?');
      await expect(goOn('Write to bob@example.com')).rejects.toBeInstanceOf(Sdk.UnprocessableEntityError);
    });

    test('moderates', async () => {
      const { results } = await client.moderations.create({ model: 'openai/omni-moderation-latest', input: 'Die!' });
      expect(results[0]).toMatchObject({ flagged: true, category_scores: { violence: 0.9 } });
    });

    test.each(['openai/gpt-3.5-turbo-instruct', 'anthropic/claude-sonnet-4-5'])(
      'completes in the old way with %s',
      async (model) => {
        const { choices } = await client.completions.create({ model, prompt: 'Once ada@example.com', max_tokens: 50 });
        expect(choices[0]?.text).toContain('Once ada@example.com');
        expect(world().providers.seen.at(-1)?.body.toString('utf8')).toContain('Once «EMAIL_1»');
      },
    );

    describe('files', () => {
      const upload = async (files: OpenAI, provider: string): Promise<OpenAI.FileObject> => {
        const file = await toFile(BATCH, 'batch.jsonl');
        return files.files.create({ file, purpose: 'batch' }, { headers: { 'x-gw-provider': provider } });
      };
      const open = (): OpenAI => openaiClient(Sdk, { url: world().url, key: world().openKey });

      test('are kept on the organization’s own account', async () => {
        const { files } = open();
        const { id } = await upload(open(), 'openai');
        expect(id).toMatch(/^openai~/);
        const listed: string[] = [];
        const list = files.list({}, { headers: { 'x-gw-provider': 'openai' } });
        for await (const file of list) listed.push(file.id);
        expect(listed).toContain(id);
        expect((await files.retrieve(id)).filename).toBe('batch.jsonl');
        expect(Buffer.from(await (await files.content(id)).arrayBuffer())).toEqual(BATCH);
        expect(await files.delete(id)).toMatchObject({ id, deleted: true });
      });

      test('are not kept on a managed account', async () => {
        const before = world().providers.seen.length;
        await expect(upload(open(), 'managed')).rejects.toBeInstanceOf(Sdk.PermissionDeniedError);
        expect(world().providers.seen).toHaveLength(before);
      });

      test('are refused where content must be read and cannot', async () => {
        const before = world().providers.seen.length;
        await expect(upload(client, 'openai')).rejects.toBeInstanceOf(Sdk.UnprocessableEntityError);
        expect(world().providers.seen).toHaveLength(before);
      });
    });

    test.each(MEDIA_TESTS)('$name', async ({ run }) => {
      await run(client, world());
    });
  });
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64');
}
