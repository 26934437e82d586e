import { toFile, type OpenAI } from 'openai';
import { expect } from 'vitest';
import { PICTURE, SOUND, TRANSCRIPT } from './vendor-answers.ts';
import type { World } from './world.ts';

/** One thing that the official client does with pictures and sounds. */
export interface MediaTest {
  readonly name: string;
  readonly run: (client: OpenAI, world: World) => Promise<void>;
}

const picture = (): ReturnType<typeof toFile> => toFile(PICTURE, 'fox.png', { type: 'image/png' });

/** Bytes go both ways as they are. */
export const MEDIA_TESTS: readonly MediaTest[] = [
  {
    name: 'speaks',
    run: async (client, { providers }) => {
      const speech = await client.audio.speech.create({
        model: 'openai/tts-1',
        voice: 'alloy',
        input: 'Mail a@b.example',
      });
      expect(Buffer.from(await speech.arrayBuffer())).toEqual(SOUND);
      const body = JSON.parse(providers.seen.at(-1)?.body.toString('utf8') ?? '') as object;
      expect(body).toMatchObject({ model: 'tts-1', input: 'Mail «EMAIL_1»' });
    },
  },
  {
    name: 'transcribes',
    run: async (client, { providers }) => {
      const file = await toFile(SOUND, 'lunch.mp3', { type: 'audio/mpeg' });
      const { data, response } = await client.audio.transcriptions
        .create({ model: 'openai/whisper-1', file, response_format: 'json' })
        .withResponse();
      expect(data.text).toBe(TRANSCRIPT);
      expect(response.headers.get('x-gw-unscanned')).toContain('audio');
      const sent = providers.seen.at(-1);
      expect(sent?.path).toBe('/v1/audio/transcriptions');
      expect(sent?.body.includes(SOUND)).toBe(true);
      expect(sent?.body.toString('latin1')).toMatch(/name="model"\r\n\r\nwhisper-1\r\n/);
    },
  },
  {
    name: 'makes images',
    run: async (client, { providers }) => {
      const { data } = await client.images.generate({ model: 'openai/gpt-image-1', prompt: 'A fox for a@b.example' });
      expect(data?.[0]?.b64_json).toBe(PICTURE.toString('base64'));
      expect(providers.seen.at(-1)?.body.toString('utf8')).toContain('A fox for «EMAIL_1»');
    },
  },
  {
    name: 'makes images by a conversation where the vendor has no other way',
    run: async (client, { providers }) => {
      const before = providers.seen.length;
      const { data } = await client.images.generate({ model: 'mistral/mistral-medium-latest', prompt: 'A red fox' });
      expect(data).toEqual([{ b64_json: PICTURE.toString('base64'), revised_prompt: 'a red fox' }]);
      const sent = providers.seen.slice(before).map(({ method, path }) => `${method} ${path}`);
      expect(sent.slice(0, 2)).toEqual(['POST /v1/conversations', 'GET /v1/files/image-1/content']);
    },
  },
  {
    name: 'edits images',
    run: async (client, { providers }) => {
      const { data } = await client.images.edit({
        model: 'openai/gpt-image-1',
        image: await picture(),
        prompt: 'Bluer',
      });
      expect(data?.[0]?.b64_json).toBe(PICTURE.toString('base64'));
      const sent = providers.seen.at(-1);
      expect(sent?.path).toBe('/v1/images/edits');
      expect(sent?.body.includes(PICTURE)).toBe(true);
      expect(sent?.body.toString('latin1')).toMatch(/name="model"\r\n\r\ngpt-image-1\r\n/);
    },
  },
];
