import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { APICallError, embedMany, transcribe, generateImage, generateText } from 'ai';
import { describe, expect, test } from 'vitest';
import { PICTURE, SOUND, TRANSCRIPT, VECTOR } from './vendor-answers.ts';
import { TALKING, type World } from './world.ts';

const EMBEDDERS = ['openai/text-embedding-3-small', 'gemini/gemini-embedding-001', 'mistral/mistral-embed'];

/** What the frameworks have beside conversations. `world`: there once the tests run. */
export function frameworksSuite(world: () => World): void {
  describe('ai', () => {
    const openai = () => createOpenAI({ apiKey: world().key, baseURL: `${world().url}/v1` });
    const anthropic = () => createAnthropic({ apiKey: world().key, baseURL: `${world().url}/v1` });

    test.each(EMBEDDERS)('embeds with %s', async (model) => {
      const { embeddings } = await embedMany({ model: openai().embedding(model), values: ['Ada', 'Bob'] });
      expect(embeddings).toEqual([VECTOR, VECTOR]);
    });

    test('makes images', async () => {
      const { image } = await generateImage({ model: openai().image('openai/gpt-image-1'), prompt: 'A fox' });
      expect(Buffer.from(image.uint8Array)).toEqual(PICTURE);
    });

    test('transcribes', async () => {
      const { text } = await transcribe({ model: openai().transcription('openai/whisper-1'), audio: SOUND });
      expect(text).toBe(TRANSCRIPT);
    });

    test.each(TALKING)(
      'chats on with $name through the responses API, when told that nothing is stored',
      async (kind) => {
        const { name, model } = kind;
        const options = {
          model: openai().responses(`${name}/${model}`),
          maxRetries: 0,
          providerOptions: { openai: { store: false } },
        };
        const first = { role: 'user' as const, content: 'I am ada@example.com' };
        const { responseMessages } = await generateText({ ...options, messages: [first] });
        const messages = [first, ...responseMessages, { role: 'user' as const, content: 'Who am I?' }];
        expect((await generateText({ ...options, messages })).text).toBe('You said: Who am I?');
        const sent = world().providers.seen.at(-1)?.body.toString('utf8');
        expect(sent).toContain('You said: I am «EMAIL_1»');
      },
    );

    test.each([
      ['@ai-sdk/openai', openai],
      ['@ai-sdk/anthropic', anthropic],
    ] as const)('%s throws what was refused', async (_name, provider) => {
      const asked = generateText({ model: provider()('secret/model'), prompt: 'Hello', maxRetries: 0 });
      const error: unknown = await asked.catch((thrown: unknown) => thrown);
      expect(APICallError.isInstance(error) && error.statusCode).toBe(403);
    });
  });

  describe('langchain', () => {
    test.each(EMBEDDERS)('embeds with %s', async (model) => {
      const { key, url } = world();
      const embedder = new OpenAIEmbeddings({ model, apiKey: key, configuration: { baseURL: `${url}/v1` } });
      expect(await embedder.embedDocuments(['Ada', 'Bob'])).toEqual([VECTOR, VECTOR]);
    });

    test.each([
      [
        '@langchain/openai',
        ({ key: apiKey, url }: World) =>
          new ChatOpenAI({ model: 'secret/model', apiKey, maxRetries: 0, configuration: { baseURL: `${url}/v1` } }),
      ],
      [
        '@langchain/anthropic',
        ({ key: apiKey, url }: World) =>
          new ChatAnthropic({ model: 'secret/model', apiKey, maxRetries: 0, anthropicApiUrl: url }),
      ],
    ] as const)('%s throws what was refused', async (_name, model) => {
      await expect(model(world()).invoke('Hello')).rejects.toMatchObject({ status: 403 });
    });
  });
}
