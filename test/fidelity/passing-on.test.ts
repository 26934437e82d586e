import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { Usage } from '#/wire/answer/usage.ts';
import { json, text } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { gate } from '../harness/gate.ts';
import { newKey, resource, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { form, sound, transcript } from './forms.ts';

/** What is not translated is passed on: bytes both ways, inspected, routed, debited and sealed like any call. */
const keys = { tokenized: newKey(), blocked: newKey(), logged: newKey() };
type Mode = keyof typeof keys;
let upstream: Upstream;
let databaseUrl: string;
const gateways = {} as Record<Mode, GatewayProcess>;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const modes = { tokenized: 'Tokenize', blocked: 'Block', logged: 'AllowLog' };
  for (const [name, mode] of Object.entries(modes) as [Mode, string][]) {
    gateways[name] = await startGateway({
      resources: [
        ...tenant({
          upstreamUrl: upstream.url,
          key: keys[name],
          // These files were made elsewhere.
          organization: { sharedObjects: 'Organization' },
          policy: { dlp: { mode } },
          prices: [
            { model: 'upstream/*', input: '2', output: '8' },
            { model: 'upstream/painter', unit: 'Image', input: '0.04' },
            { model: 'upstream/by-the-call', unit: 'Call', input: '0.5' },
          ],
        }),
        resource('Provider', 'managed', {
          slug: 'managed',
          protocol: 'Custom',
          keyOwnership: 'Managed',
          endpoint: { url: upstream.url, allowInsecure: true },
          jurisdiction: 'EU',
        }),
      ],
      redisUrl: inject('redisUrl'),
      databaseUrl,
    });
  }
}, 90_000);

afterAll(async () => {
  await Promise.all(Object.values(gateways).map((gateway) => gateway.stop()));
  await upstream?.close();
});

function call(mode: Mode, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${keys[mode]}`, ...(init.headers as Record<string, string> | undefined) };
  return fetch(gateways[mode].url + path, { ...init, headers });
}

/** The parts of the form that the stand-in was sent last, read by Node's own parser. */
async function sentForm(): Promise<Record<string, string>> {
  const { body, headers } = upstream.requests.at(-1)!;
  const data = await new Response(body, { headers: { 'content-type': headers['content-type']! } }).formData();
  const entries = await Promise.all(
    [...data.entries()].map(async ([name, value]) => [name, typeof value === 'string' ? value : await value.text()]),
  );
  return Object.fromEntries(entries) as Record<string, string>;
}

describe('a form', () => {
  test.each([
    ['before', ['model', 'file', 'prompt']],
    ['after', ['file', 'prompt', 'model']],
  ])('with its model %s the file: the model is renamed, text inspected, the file as it is', async (_, order) => {
    upstream.respond(transcript);
    const values = { model: 'upstream/whisper-9', file: sound(), prompt: 'of ada@example.com', language: 'en' };
    const parts = [...order, 'language'].map((name) => [name, values[name as keyof typeof values]] as const);
    const answer = await call('tokenized', '/v1/audio/transcriptions', { method: 'POST', body: form(parts) });
    expect(answer.headers.get('x-gw-unscanned')).toBe('audio, names');
    expect(await answer.json()).toMatchObject({ text: 'hello' });
    expect(upstream.requests.at(-1)!.path).toBe('/v1/audio/transcriptions');
    expect(await sentForm()).toEqual({
      model: 'whisper-9',
      file: 'RIFF'.repeat(250),
      prompt: 'of «EMAIL_1»',
      language: 'en',
    });
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({
      surface: 'audio',
      wire_format: 'passthrough',
      outcome: 'served',
      model: 'upstream/whisper-9',
      provider_model: 'whisper-9',
      usage_source: 'provider',
      cost_nano_eur: '60000',
      dlp: { findings: { EMAIL: 1 }, unscanned: ['audio', 'names'] },
    });
  });

  test('goes on while it still comes in, once its model is known', async () => {
    const release = gate();
    const boundary = 'b';
    const head = `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nupstream/w\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\nContent-Type: audio/wav\r\n\r\n`;
    const begun = Promise.withResolvers<void>();
    upstream.respond(transcript);
    const before = upstream.connections();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from(head + 'x'.repeat(100_000)));
        begun.resolve();
        await release.pass();
        controller.enqueue(Buffer.from('y\r\n--b--\r\n'));
        controller.close();
      },
    });
    const answering = call('logged', '/v1/audio/transcriptions', {
      method: 'POST',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body,
      duplex: 'half',
    });
    await begun.promise;
    // The provider is connected to although the form is not all there.
    await expect.poll(() => upstream.connections()).toBeGreaterThan(before);
    release.release();
    expect((await answering).status).toBe(200);
    expect((await sentForm())['file']).toHaveLength(100_001);
  });

  test('mode block: audio is refused, and so is personal text; nothing is sent', async () => {
    const sent = upstream.requests.length;
    const spoken = form([
      ['model', 'upstream/w'],
      ['file', sound()],
    ]);
    const audio = await call('blocked', '/v1/audio/transcriptions', { method: 'POST', body: spoken });
    expect([audio.status, await audio.json()]).toMatchObject([422, { error: { code: 'data_protection' } }]);
    expect((await rowOf(databaseUrl, audio.headers.get('x-request-id'))).outcome).toBe('refused');
    const picture = form([
      ['prompt', 'ada@example.com'],
      ['model', 'upstream/painter'],
      ['image', new Blob(['x'], { type: 'image/png' })],
    ]);
    const image = await call('blocked', '/v1/images/edits', { method: 'POST', body: picture });
    expect(image.status).toBe(422);
    expect(upstream.requests).toHaveLength(sent);
  });

  test.each([
    [['n', 'model'], '80000000'],
    // Ten are the most that can still be asked for.
    [['model', 'n'], '400000000'],
  ])('pictures are billed by the picture (%j)', async (order, held) => {
    upstream.respond(json({ created: 1, data: [{ b64_json: 'QQ==' }, { b64_json: 'QQ==' }] }));
    const values: Record<string, string> = { n: '2', model: 'upstream/painter' };
    const body = form([
      ...order.map((name) => [name, values[name]!] as const),
      ['prompt', 'a cat'],
      ['image', new Blob(['x'], { type: 'image/png' })],
    ]);
    const answer = await call('tokenized', '/v1/images/edits', { method: 'POST', body });
    expect(answer.status).toBe(200);
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ surface: 'images', cost_nano_eur: '80000000', held_nano_eur: held });
  });

  test('names no file by what must not leave', async () => {
    upstream.respond(transcript);
    const body = new FormData();
    body.append('model', 'upstream/w');
    body.append('file', sound(), 'call of ada@example.com.wav');
    expect((await call('tokenized', '/v1/audio/transcriptions', { method: 'POST', body })).status).toBe(200);
    expect(upstream.requests.at(-1)!.body).not.toContain('ada@example.com');
    expect(upstream.requests.at(-1)!.body).toContain('filename="call of «EMAIL_1»');
    const sent = upstream.requests.length;
    const named = new FormData();
    named.append('prompt', 'a cat');
    named.append('model', 'upstream/painter');
    named.append('image', new Blob(['x'], { type: 'image/png' }), 'ada@example.com.png');
    expect((await call('blocked', '/v1/images/edits', { method: 'POST', body: named })).status).toBe(422);
    expect(upstream.requests).toHaveLength(sent);
  });

  test.each([
    ['n', [['n', '11']]],
    ['n', [['n', ' 10']]],
    ['n', [['n', '0']]],
    [
      'n',
      [
        ['n', '1'],
        ['n', '10'],
      ],
    ],
    ['n', [['N', '10']]],
    ['gw.remove', [['gw.remove', '["x"]']]],
  ] as const)('cannot say %s so that it is read in two ways (%j)', async (param, parts) => {
    const sent = upstream.requests.length;
    const body = form([...parts, ['model', 'upstream/painter'], ['prompt', 'x']]);
    const answer = await call('logged', '/v1/images/edits', { method: 'POST', body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param } }]);
    expect((await rowOf(databaseUrl, answer.headers.get('x-request-id'))).outcome).toBe('refused');
    expect(upstream.requests).toHaveLength(sent);
  });

  test.each([
    ['no model', [['prompt', 'x']]],
    ['a bare model', [['model', 'w']]],
    ['an unknown provider', [['model', 'nobody/w']]],
    [
      'two models',
      [
        ['model', 'upstream/a'],
        ['model', 'upstream/b'],
      ],
    ],
  ] as const)('with %s is refused and sealed', async (_, parts) => {
    const sent = upstream.requests.length;
    const answer = await call('logged', '/v1/audio/transcriptions', { method: 'POST', body: form(parts) });
    expect([400, 404]).toContain(answer.status);
    expect(await answer.json()).toMatchObject({ error: { type: expect.stringMatching(/_error$/) as string } });
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row.outcome === 'refused' || row.outcome === 'failed').toBe(true);
    expect(upstream.requests).toHaveLength(sent);
  });
});

describe('an answer that is bytes', () => {
  const bytes = randomBytes(300_000);

  test('comes as it is, from text that was inspected', async () => {
    upstream.respond(text(bytes, { headers: { 'content-type': 'audio/mpeg' } }));
    const answer = await call('tokenized', '/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"for ada@example.com", "model":"upstream/tts","speed":1.0}',
    });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    expect(upstream.requests.at(-1)!.body).toBe('{"input":"for «EMAIL_1»", "model":"tts","speed":1.0}');
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'served', surface: 'audio', usage_source: 'estimated' });
  });

  test('that breaks off breaks off for the client too, and is billed', async () => {
    const broken: Answer = (exchange) => {
      const { response } = exchange;
      response.writeHead(200, { 'content-type': 'audio/mpeg', 'content-length': bytes.length });
      response.write(bytes.subarray(0, 1000), () => exchange.cut('reset'));
    };
    upstream.respond(broken);
    const answer = await call('logged', '/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"x","model":"upstream/tts"}',
    });
    await expect(answer.arrayBuffer()).rejects.toThrow('terminated');
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'failed', reason: 'reset' });
  });

  test('a provider that fails is told as on every surface', async () => {
    upstream.respond(json({ error: { message: 'no such voice' } }, 400));
    const answer = await call('logged', '/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"input":"x","model":"upstream/tts"}',
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { message: 'no such voice', gw: { attempts: [{ provider: 'upstream', status: 400 }] } },
    });
  });
});

describe('an answer that tells no usage', () => {
  test.each([
    ['/v1/audio/transcriptions', 'hello'.repeat(4), 'text/plain', { input: 3, inputAudio: 85, output: 5 }],
    ['/v1/audio/speech', randomBytes(32_000), 'audio/mpeg', { input: 13, output: 0, outputAudio: 34 }],
  ])('of %s is billed by our own count', async (path, said, type, usage) => {
    upstream.respond(text(said, { headers: { 'content-type': type } }));
    const spoken = '{"model":"upstream/tts","input":"a few words more"}';
    const heard = form([
      ['model', 'upstream/w'],
      ['file', sound(64_000)],
    ]);
    const answer = await call('logged', path, {
      method: 'POST',
      headers: type === 'audio/mpeg' ? { 'content-type': 'application/json' } : {},
      body: type === 'audio/mpeg' ? spoken : heard,
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ usage_source: 'estimated', usage });
    const {
      input,
      inputAudio = 0,
      output,
      outputAudio = 0,
    }: Partial<Usage> & { input: number; output: number } = usage;
    expect(BigInt(row.cost_nano_eur)).toBe(BigInt(input + inputAudio) * 2000n + BigInt(output + outputAudio) * 8000n);
    expect(BigInt(row.held_nano_eur)).toBeGreaterThanOrEqual(BigInt(row.cost_nano_eur));
  });

  test('or a nonsensical one is sealed', async () => {
    upstream.respond(json({ id: 'video_1', duration: 1e300, usage: { input_tokens: 1e300, output_tokens: 1 } }));
    const answer = await call('logged', '/v1/videos', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"model":"upstream/by-the-call","prompt":"a cat","seconds":"8"}',
    });
    expect(answer.status).toBe(200);
    const row = await rowOf(databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ outcome: 'served', usage: { input: 16, output: 0 }, usage_source: 'implausible' });
    expect(row.units).toEqual({ seconds: 8 });
  });
});

describe('files', () => {
  const upload = (): RequestInit => ({
    method: 'POST',
    headers: { 'x-gw-provider': 'upstream' },
    body: form([
      ['purpose', 'batch'],
      ['file', new Blob(['{}'], { type: 'application/jsonl' })],
    ]),
  });

  test('are kept by the provider that the id names', async () => {
    upstream.respond(json({ id: 'file-1', object: 'file', bytes: 2 }));
    const made = await call('logged', '/v1/files', upload());
    expect(await made.json()).toEqual({ id: 'upstream~file-1', object: 'file', bytes: 2 });
    upstream.respond(json({ object: 'list', data: [{ id: 'file-1' }, { id: 'file-2' }], last_id: 'file-2' }));
    const list = await call('logged', '/v1/files?after=upstream~file-0&limit=2', {
      headers: { 'x-gw-provider': 'upstream' },
    });
    expect(await list.json()).toMatchObject({ data: [{ id: 'upstream~file-1' }, { id: 'upstream~file-2' }] });
    expect(upstream.requests.at(-1)!.path).toBe('/v1/files?after=file-0&limit=2');
    upstream.respond(text('content', { headers: { 'content-type': 'application/octet-stream' } }));
    const content = await call('logged', '/v1/files/upstream~file-1/content');
    expect(await content.text()).toBe('content');
    expect(upstream.requests.at(-1)).toMatchObject({ method: 'GET', path: '/v1/files/file-1/content' });
    upstream.respond(json({ id: 'file-1', deleted: true }));
    const gone = await call('logged', '/v1/files/upstream~file-1', { method: 'DELETE' });
    expect(await gone.json()).toEqual({ id: 'upstream~file-1', deleted: true });
    const row = await rowOf(databaseUrl, gone.headers.get('x-request-id'));
    expect(row).toMatchObject({
      surface: 'files',
      outcome: 'served',
      cost_nano_eur: '0',
      model: null,
      provider: 'upstream',
    });
  });

  test('need the organization’s own key', async () => {
    const answer = await call('logged', '/v1/files', { ...upload(), headers: { 'x-gw-provider': 'managed' } });
    expect([answer.status, await answer.json()]).toMatchObject([403, { error: { type: 'permission_error' } }]);
  });

  test('are refused where content is protected: nobody has read them', async () => {
    const sent = upstream.requests.length;
    const answer = await call('tokenized', '/v1/files', upload());
    expect(answer.status).toBe(422);
    expect(upstream.requests).toHaveLength(sent);
  });

  test('without a provider are refused', async () => {
    const answer = await call('logged', '/v1/files/file-1');
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { param: 'x-gw-provider' } }]);
  });

  test.each(['../models', '..', '.', 'a/b', 'a?b', 'ada@example.com', ''])(
    'cannot be asked for by an id that is none (%j)',
    async (id) => {
      const sent = upstream.requests.length;
      const answer = await call('logged', `/v1/files/${encodeURIComponent(`upstream~${id}`)}`);
      expect(answer.status).toBe(400);
      expect((await rowOf(databaseUrl, answer.headers.get('x-request-id'))).outcome).toBe('refused');
      expect(upstream.requests).toHaveLength(sent);
    },
  );

  test('are listed by a query that was inspected', async () => {
    upstream.respond(json({ object: 'list', data: [] }));
    const headers = { 'x-gw-provider': 'upstream' };
    await call('tokenized', '/v1/files?after=upstream~file-0&purpose=of+ada@example.com&limit=2', { headers });
    const { searchParams } = new URL(upstream.requests.at(-1)!.path, upstream.url);
    expect(Object.fromEntries(searchParams)).toEqual({ after: 'file-0', purpose: 'of «EMAIL_1»', limit: '2' });
    const sent = upstream.requests.length;
    const answer = await call('blocked', '/v1/files?purpose=ada@example.com', { headers });
    expect(answer.status).toBe(422);
    expect(upstream.requests).toHaveLength(sent);
  });
});
