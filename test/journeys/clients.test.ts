import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anthropicSuite } from './anthropic.suite.ts';
import { aiSdkClients } from './clients/ai-sdk.ts';
import { ANTHROPIC_PACKAGES, anthropicMessages } from './clients/anthropic.ts';
import type { Client, MailArguments } from './clients/client.ts';
import { langchainClients } from './clients/langchain.ts';
import { OPENAI_PACKAGES, openaiChat, openaiResponses } from './clients/openai.ts';
import { frameworksSuite } from './frameworks.suite.ts';
import { openaiSuite } from './openai.suite.ts';
import { pythonSuite } from './python.suite.ts';
import { PAGES } from './vendor-answers.ts';
import { startWorld, TALKING, type World } from './world.ts';

/** Client libraries as they are, against every kind of provider. */

let world: World;
let clients: ReadonlyMap<string, Client>;

beforeAll(async () => {
  world = await startWorld();
  clients = new Map(makeClients(world).map((client) => [client.name, client]));
}, 60_000);

afterAll(async () => {
  await world?.close();
});

function makeClients(connection: { url: string; key: string }): readonly Client[] {
  return [
    ...OPENAI_PACKAGES.map(([name, sdk]) => openaiChat(name, sdk, connection)),
    ...OPENAI_PACKAGES.map(([name, sdk]) => openaiResponses(name, sdk, connection)),
    ...ANTHROPIC_PACKAGES.map(([name, sdk]) => anthropicMessages(name, sdk, connection)),
    ...aiSdkClients(connection),
    ...langchainClients(connection),
  ];
}

/** What a kind was sent in the meantime. */
function sentTo(kind: string, before: number): readonly string[] {
  return world.providers.seen
    .slice(before)
    .filter((request) => request.kind === kind)
    .map(({ body }) => body.toString('utf8'));
}

const names = makeClients({ url: 'http://127.0.0.1:1', key: 'none' }).map(({ name }) => name);

describe.each(names)('%s', (name) => {
  describe.each(TALKING)('$name', ({ name: kind, model }) => {
    const address = `ada.${kind}@example.com`;

    test('streams', async () => {
      const before = world.providers.seen.length;
      const text = await clients.get(name)?.stream(`${kind}/${model}`, `Write to ${address} about lunch`);
      expect(text).toBe(`You said: Write to ${address} about lunch`);
      const sent = sentTo(kind, before);
      expect(sent).toHaveLength(1);
      expect(sent[0]).toContain('Write to «EMAIL_1» about lunch');
      expect(sent[0]).not.toContain(address);
    });

    test('runs tools', async () => {
      const before = world.providers.seen.length;
      const mailed: MailArguments[] = [];
      const text = await clients.get(name)?.toolLoop(`${kind}/${model}`, `Mail ${address} about lunch`, (args) => {
        mailed.push(args);
        return `mailed to ${args.to}`;
      });
      expect(mailed).toEqual([{ to: address, subject: 'lunch' }]);
      expect(text).toBe(`The tool said: mailed to ${address}`);
      const sent = sentTo(kind, before);
      expect(sent).toHaveLength(2);
      for (const body of sent) {
        expect(body).toContain('«EMAIL_1»');
        expect(body).not.toContain(address);
      }
      expect(sent[1]).toContain('mailed to «EMAIL_1»');
    });
  });
});

openaiSuite(() => world);
anthropicSuite(() => world);
frameworksSuite(() => world);
pythonSuite(() => world);

test('pages are read by the vendor that reads pages', async () => {
  const answer = await fetch(`${world.url}/v1/ocr`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.openKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'mistral/mistral-ocr-latest',
      document: { type: 'document_url', document_url: 'data:application/pdf;base64,JVBERi0xLjQK' },
    }),
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual(PAGES);
  expect(JSON.parse(world.providers.seen.at(-1)?.body.toString('utf8') ?? '')).toMatchObject({
    model: 'mistral-ocr-latest',
    document: { type: 'document_url' },
  });
});
