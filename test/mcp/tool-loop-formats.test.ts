import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';
import { resource } from '../harness/gateway.ts';
import { ANY_ARGUMENTS, startMcpServer, type McpStandIn } from '../harness/mcp-server.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';
import { startMcpWorld, type McpWorld } from './world.ts';

/** The gateway runs tools for models of every format that knows functions. */

const MAIL = 'ada@example.com';
const CRM: OpenAI.Responses.Tool.Mcp = { type: 'mcp', server_label: 'crm', require_approval: 'never' };
const ARGUMENTS = { mail: '«EMAIL_1»' };
const ANSWER = '«EMAIL_1» is Ada.';

const claude = (content: object, stop_reason: string): Answer => {
  const usage = { input_tokens: 10, output_tokens: 5 };
  return json({ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [content], stop_reason, usage });
};
const gemini = (part: object): Answer =>
  json({
    responseId: 'g1',
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  });
const bedrock = (content: object, stopReason: string): Answer =>
  json({
    output: { message: { role: 'assistant', content: [content] } },
    stopReason,
    usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  });

const FORMATS: readonly {
  readonly protocol: string;
  readonly slug: string;
  readonly rounds: readonly [Answer, Answer];
}[] = [
  {
    protocol: 'Messages',
    slug: 'claude',
    rounds: [
      claude({ type: 'tool_use', id: 'toolu_1', name: 'crm__find', input: ARGUMENTS }, 'tool_use'),
      claude({ type: 'text', text: ANSWER }, 'end_turn'),
    ],
  },
  {
    protocol: 'GenerateContent',
    slug: 'gem',
    rounds: [
      gemini({ functionCall: { name: 'crm__find', args: ARGUMENTS }, thoughtSignature: 'c2lnbmVk' }),
      gemini({ text: ANSWER }),
    ],
  },
  {
    protocol: 'Converse',
    slug: 'rock',
    rounds: [
      bedrock({ toolUse: { toolUseId: 'tooluse_1', name: 'crm__find', input: ARGUMENTS } }, 'tool_use'),
      bedrock({ text: ANSWER }, 'end_turn'),
    ],
  },
];

let crm: McpStandIn;
let model: Upstream;
let world: McpWorld;
let client: OpenAI;

beforeAll(async () => {
  [crm, model] = await Promise.all([
    startMcpServer({ tools: [{ name: 'find', description: 'Finds', inputSchema: ANY_ARGUMENTS }] }),
    startUpstream(),
  ]);
  const credentials = [{ name: 'main', type: 'APIKey', secretKeyRef: { name: 'keys', key: 'main' } }];
  world = await startMcpWorld({
    servers: { crm: { url: crm.url } },
    policy: { dlp: { mode: 'Tokenize' } },
    prices: FORMATS.map(({ slug }) => ({ model: `${slug}/*`, input: '2', output: '8' })),
    more: [
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'keys', namespace: 'default' },
        stringData: { main: 'sk' },
      },
      ...FORMATS.map(({ protocol, slug }) =>
        resource('Provider', slug, {
          slug,
          protocol,
          endpoint: { url: model.url, allowInsecure: true },
          jurisdiction: 'EU',
          ...(protocol === 'Converse' && { region: 'eu-central-1' }),
          credentials,
        }),
      ),
    ],
  });
  client = new OpenAI({ apiKey: world.key, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
}, 60_000);

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await Promise.all([crm?.[Symbol.asyncDispose](), model?.close()]);
});

describe.each(FORMATS)('$protocol', ({ slug, rounds }) => {
  test('responses', async () => {
    model.respond(rounds);
    const before = model.requests.length;
    const answer = await client.responses.create({ model: `${slug}/m`, input: `Who is ${MAIL}?`, tools: [CRM] });
    expect(answer.output.map(({ type }) => type)).toEqual(['mcp_list_tools', 'mcp_call', 'message']);
    expect(answer.output_text).toBe(`${MAIL} is Ada.`);
    expect(answer.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 });
    const sent = model.requests.slice(before).map(({ body }) => body);
    expect(sent).toHaveLength(2);
    expect(sent.join('')).not.toContain(MAIL);
    expect(sent[1]).toContain('{\\"mail\\":\\"«EMAIL_1»\\"}');
  });

  test('chat completions', async () => {
    model.respond(rounds);
    const answer = await client.chat.completions.create({
      model: `${slug}/m`,
      messages: [{ role: 'user', content: `Who is ${MAIL}?` }],
      tools: [CRM as object as OpenAI.ChatCompletionTool],
    });
    expect(answer.choices[0]?.message).toMatchObject({ content: `${MAIL} is Ada.` });
    expect(answer.usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 });
    expect(crm.of('tools/call').at(-1)?.body.params?.['arguments']).toEqual(ARGUMENTS);
  });
});
