import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Incoming, Provider } from '#/ports/provider.ts';
import { cutOff, json, text } from '../../../test/harness/answers.ts';
import type { Answer } from '../../../test/harness/exchange.ts';
import { startUpstream, type Upstream } from '../../../test/harness/upstream.ts';
import { createProviders } from '../registry.ts';
import { outgoingTo } from '../testing/asking.ts';
import { apiKey, configOf } from '../testing/config.ts';
import { createTransport } from '../http/transport.ts';

const transport = createTransport();
const providers = createProviders(transport);
afterAll(() => transport.close());

const IMAGE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);

let upstream: Upstream;
let mistral: Provider;
let conversation: (index: number) => unknown;
let content: (index: number) => Answer;

beforeEach(async () => {
  conversation = (index) => made(`file-${index}`);
  content = () => text(IMAGE, { headers: { 'content-type': 'image/png' } });
  let conversations = 0;
  let contents = 0;
  upstream = await startUpstream((exchange) => {
    const { method, path } = exchange.request;
    if (path === '/v1/conversations') {
      const answer = conversation(conversations++);
      return typeof answer === 'function' ? (answer as Answer)(exchange) : json(answer)(exchange);
    }
    if (method === 'DELETE') return json({ deleted: true })(exchange);
    return content(contents++)(exchange);
  });
  const credentials = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6'].map((key) => apiKey(key));
  const provider = providers(configOf('mistral', { url: upstream.url, credentials }));
  if (!provider) throw new Error('mistral is not registered');
  mistral = provider;
});
afterEach(() => upstream.close());

function made(fileId: string, args: unknown = { prompt: 'A red cat.' }): unknown {
  return {
    object: 'conversation.response',
    conversation_id: 'c',
    outputs: [
      { type: 'tool.execution', name: 'image_generation', arguments: args },
      {
        type: 'message.output',
        content: [
          { type: 'text', text: 'Here: ' },
          { type: 'tool_file', tool: 'image_generation', file_id: fileId, file_name: 'i', file_type: 'png' },
        ],
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, connectors: { image_generation: 1 } },
  };
}

function ask(body: unknown): Promise<Incoming> {
  return mistral.send(
    outgoingTo(mistral, { family: 'images', model: 'mistral-medium-latest', body: JSON.stringify(body) }),
  );
}

async function answerTo(body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await ask(body);
  return { status: answer.status, body: JSON.parse(await answer.text(1_000_000)) as Record<string, unknown> };
}

function asked(method: string, path: RegExp): number {
  return upstream.requests.filter((request) => request.method === method && path.test(request.path)).length;
}

describe('an image', () => {
  it('is made by a conversation, fetched, and deleted, with one key throughout', async () => {
    const { status, body } = await answerTo({ model: 'x', prompt: 'cat', size: '1024x1024', quality: 'auto' });
    expect(status).toBe(200);
    expect(body['data']).toEqual([{ b64_json: IMAGE.toString('base64'), revised_prompt: 'A red cat.' }]);
    expect(body['created']).toBeTypeOf('number');
    const [first, second, third] = [await upstream.request(0), await upstream.request(1), await upstream.request(2)];
    expect(JSON.parse(first.body)).toMatchObject({
      model: 'mistral-medium-latest',
      inputs: 'cat\n\n(size: 1024x1024)',
      tools: [{ type: 'image_generation' }],
      store: false,
      stream: false,
    });
    expect([second.method, second.path]).toEqual(['GET', '/v1/files/file-0/content']);
    expect([third.method, third.path]).toEqual(['DELETE', '/v1/files/file-0']);
    expect(new Set(upstream.requests.map(({ headers }) => headers.authorization)).size).toBe(1);
  });

  it.each([
    ['{"prompt":"As text."}', 'As text.'],
    ['no json', undefined],
    [null, undefined],
  ])('has a revised prompt where the tool tells one: %s', async (args, revised) => {
    conversation = () => made('f', args);
    const { body } = await answerTo({ prompt: 'cat' });
    expect((body['data'] as { revised_prompt?: string }[])[0]?.revised_prompt).toBe(revised);
  });

  it('is fetched again, not made again, when fetching fails', async () => {
    content = (index) => [cutOff(), json({}, 503), text(IMAGE)][index] ?? json({}, 500);
    const { status } = await answerTo({ prompt: 'cat' });
    expect(status).toBe(200);
    expect([asked('POST', /conversations/), asked('GET', /content/)]).toEqual([1, 3]);
  });

  it('that cannot be fetched at all is a failure that is not tried anew', async () => {
    content = () => json({}, 500);
    const answer = await ask({ prompt: 'cat' });
    expect(mistral.readFailure(answer, await answer.text(1000)).retryable).toBe(false);
    expect([answer.status, asked('POST', /conversations/)]).toEqual([502, 1]);
  });
});

describe('several images', () => {
  it('are several conversations', async () => {
    const { body } = await answerTo({ prompt: 'cat', n: 7 });
    expect(body['data']).toHaveLength(7);
    expect(asked('POST', /conversations/)).toBe(7);
  });

  it('are what was made when some were not', async () => {
    conversation = (index) => (index === 1 ? json({ message: 'busy' }, 429) : made(`f${index}`));
    const { status, body } = await answerTo({ prompt: 'cat', n: 2 });
    expect([status, (body['data'] as unknown[]).length]).toEqual([200, 1]);
  });

  it('are ten at most', async () => {
    const { status, body } = await answerTo({ prompt: 'cat', n: 11 });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { message: 'n must be at most 10 for this model' } });
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('no image', () => {
  it.each([
    ['a text', 'I cannot draw that.'],
    [
      'text in pieces',
      [
        { type: 'text', text: 'I cannot ' },
        { type: 'text', text: 'draw that.' },
      ],
    ],
  ])('is a refusal in the words of the model: %s', async (_name, words) => {
    conversation = () => ({ outputs: [{ type: 'message.output', content: words }] });
    const answer = await ask({ prompt: 'cat' });
    const failure = mistral.readFailure(answer, await answer.text(1000));
    expect([answer.status, failure.message, failure.retryable]).toEqual([400, 'I cannot draw that.', false]);
    expect(asked('GET', /./)).toBe(0);
  });

  it('and no words is a refusal too', async () => {
    conversation = () => ({ outputs: [null, 3, { type: 'message.output' }] });
    expect(await answerTo({ prompt: 'cat' })).toMatchObject({ status: 400 });
  });

  it('is what the provider answered when it failed', async () => {
    conversation = () => json({ object: 'error', message: 'slow down' }, 429, { 'retry-after': '3' });
    const answer = await ask({ prompt: 'cat', n: 3 });
    const failure = mistral.readFailure(answer, await answer.text(1000));
    expect([answer.status, failure.message, failure.retryAfterMs]).toEqual([429, 'slow down', 3000]);
  });

  it('is a fault when the connection is', async () => {
    conversation = () => cutOff();
    await expect(ask({ prompt: 'cat' })).rejects.toMatchObject({ kind: 'reset' });
    conversation = () => text('not json');
    await expect(ask({ prompt: 'cat' })).rejects.toMatchObject({ kind: 'protocol' });
  });
});
