import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** The bytes a provider gets are the bytes the client sent, with the declared edits and nothing else. */

const keys = { logged: newKey(), tokenized: newKey() };
let upstream: Upstream;
const gateways: GatewayProcess[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  for (const mode of ['AllowLog', 'Tokenize'] as const) {
    const key = mode === 'AllowLog' ? keys.logged : keys.tokenized;
    gateways.push(
      await startGateway({
        resources: tenant({ upstreamUrl: upstream.url, key, policy: { dlp: { mode } } }),
        redisUrl: inject('redisUrl'),
        databaseUrl: await createDatabase(inject('databaseUrl')),
      }),
    );
  }
}, 60_000);

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await upstream?.close();
});

async function sent(mode: 'logged' | 'tokenized', text: string): Promise<string> {
  const gateway = gateways[mode === 'logged' ? 0 : 1]!;
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys[mode]}` },
    body: text,
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  return upstream.requests.at(-1)!.body;
}

/** Source text of values no parser and printer would leave as they are. */
const blank = fc.constantFrom('', ' ', '\n', '\t ');
const oddNumber = fc.constantFrom('1.0', '9007199254740993123', '-0', '1e3', '0.10', '18446744073709551615');
const oddString = fc.oneof(
  fc.constantFrom('"\\u00e9"', '"\\ud83d\\ude00"', '"😀"', '"\\/"', '"«x»"', '"\\\\\\""', '"\u2028"', '""'),
  fc
    .string({ unit: 'grapheme', maxLength: 12 })
    .filter((text) => !/[\d@:]/.test(text))
    .map((text) => JSON.stringify(text)),
);
const oddValue = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    oddNumber,
    oddString,
    fc.constantFrom('true', 'null'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' , ')}]`),
    fc
      .uniqueArray(fc.tuple(fc.stringMatching(/^[a-z0-9]{1,4}$/), tie('value')), {
        maxLength: 3,
        selector: ([name]) => name,
      })
      .map((members) => `{${members.map(([name, value]) => `"${name}" :${value}`).join(',')}}`),
  ),
})).value;

/** A body whose members come in any order, with a place for the model and for the user's text. */
const body = fc
  .tuple(
    fc.uniqueArray(fc.tuple(fc.stringMatching(/^x_[a-z]{1,5}$/), oddValue), {
      maxLength: 5,
      selector: ([name]) => name,
    }),
    oddString,
    blank,
    fc.nat(),
  )
  .map(([unknown, text, space, order]) => {
    const members = [
      `"model"${space}:${space}"upstream/some-model"`,
      `"messages":[{"role":"user","x":${unknown[0]?.[1] ?? '1.0'},"content":${text}},{"content":[{"type":"text","text":"MAIL"}],"role":"user"}]`,
      ...unknown.map(([name, value]) => `${space}"${name}":${value}`),
    ];
    const rotated = [...members.slice(order % members.length), ...members.slice(0, order % members.length)];
    return `{${space}${rotated.join(`${space},`)}${space}}`;
  });

const served = (text: string): string => text.replace('"upstream/some-model"', '"some-model"');

describe('fuzzed bodies', () => {
  test('mode allow_log: only the model changes', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        expect(await sent('logged', text)).toBe(served(text));
      }),
      { numRuns: 200 },
    );
  }, 60_000);

  test('mode tokenize: only the model and what was found change', async () => {
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        const tagged = await sent('tokenized', text.replace('MAIL', 'to ada@example.com!'));
        // Text that looked like a tag gets a tag of its own: none of the fuzzed strings does.
        expect(tagged).toBe(served(text).replace('MAIL', 'to «EMAIL_1»!'));
      }),
      { numRuns: 200 },
    );
  }, 60_000);
});

test('a stream is asked for its usage without touching the client’s other options', async () => {
  const text =
    '{"stream":true , "stream_options":{"x":1.0},"model":"upstream/m","messages":[{"role":"user","content":"hi"}]}';
  expect(await sent('logged', text)).toBe(
    '{"stream":true , "stream_options":{"x":1.0,"include_usage":true},"model":"m","messages":[{"role":"user","content":"hi"}]}',
  );
});

test('a body that names a member twice is refused: parsers differ on which one counts', async () => {
  const answer = await fetch(`${gateways[0]!.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.logged}` },
    body: '{"model":"upstream/m","messages":[{"role":"user","content":"ada@example.com"}],"messages":[{"role":"user","content":"x"}]}',
  });
  expect(answer.status).toBe(400);
});

test('a body of 30 MiB passes', async () => {
  const text = `{"model":"upstream/m","messages":[{"role":"user","content":"${'words and more '.repeat(2 * 1024 * 1024)}"}]}`;
  expect(text.length).toBeGreaterThan(30 * 1024 * 1024);
  expect(await sent('tokenized', text)).toBe(text.replace('upstream/m', 'm'));
}, 60_000);
