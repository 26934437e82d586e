import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { echo } from '../harness/answers.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** What leaves as tags comes back as it was, wherever the stream that repeats it is cut. */

const key = newKey();
const PERSONAL = ['ada.lovelace@example.com', 'DE89 3704 0044 0532 0130 00', '4111 1111 1111 1111', '+49 30 901820'];
const PROMPT = `Mail ${PERSONAL[0]}, transfer from ${PERSONAL[1]}, charge ${PERSONAL[2]}, or call ${PERSONAL[3]}.`;
let upstream: Upstream;
let gateway: GatewayProcess;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    resources: tenant({ upstreamUrl: upstream.url, key, policy: { dlp: { mode: 'Tokenize' } } }),
    redisUrl: inject('redisUrl'),
    databaseUrl: await createDatabase(inject('databaseUrl')),
  });
}, 60_000);

afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

interface Chunk {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string;
      readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[];
    };
  }[];
}

async function streamed(): Promise<{ content: string; args: string }> {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'upstream/m', stream: true, messages: [{ role: 'user', content: PROMPT }] }),
  });
  const text = await answer.text();
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  const result = { content: '', args: '' };
  for (const event of text.split('\n\n').filter((line) => line.startsWith('data: {'))) {
    for (const { delta } of (JSON.parse(event.slice(6)) as Chunk).choices) {
      result.content += delta.content ?? '';
      for (const call of delta.tool_calls ?? []) result.args += call.function.arguments;
    }
  }
  return result;
}

function tagged(): string {
  const { messages } = JSON.parse(upstream.requests.at(-1)!.body) as { messages: { content: string }[] };
  return messages[0]!.content;
}

describe('a prompt with a mix of personal data', () => {
  test('reaches the provider with tags only', async () => {
    upstream.respond(echo());
    expect((await streamed()).content).toBe(PROMPT);
    expect(tagged()).toBe('Mail «EMAIL_1», transfer from «IBAN_1», charge «CREDIT_CARD_1», or call «PHONE_1».');
    for (const original of PERSONAL) expect(upstream.requests.at(-1)!.body).not.toContain(original);
  });

  test('comes back whole for every cut of the streamed text, and for all cuts at once', async () => {
    const { length } = tagged();
    for (let cut = 1; cut < length; cut++) {
      upstream.respond(echo({ cutAt: [cut] }));
      expect((await streamed()).content).toBe(PROMPT);
    }
    upstream.respond(echo({ cutAt: 'every-unit', splitAt: 'every-byte' }));
    expect((await streamed()).content).toBe(PROMPT);
  }, 60_000);

  test('comes back in tool-call arguments as valid JSON, for every cut', async () => {
    upstream.respond(echo({ as: 'tool-arguments' }));
    await streamed();
    const length = JSON.stringify({ text: tagged() }).length;
    for (let cut = 1; cut < length; cut += 2) {
      upstream.respond(echo({ as: 'tool-arguments', cutAt: [cut] }));
      expect(JSON.parse((await streamed()).args)).toEqual({ text: PROMPT });
    }
  }, 60_000);
});
