import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { json } from '../harness/answers.ts';
import type { Exchange } from '../harness/exchange.ts';
import { newKey, startGateway, tenant, type GatewayProcess } from '../harness/gateway.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { createDatabase } from '../harness/postgres.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/**
 * Tool loops of a model that thinks. The stand-in has the vendor's own rule for them: with `thinking` enabled the calls
 * that are open begin with thinking, without it they hold none.
 */

interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}
interface Message {
  readonly role: string;
  readonly content: string | readonly Block[];
}
interface Sent {
  readonly thinking?: { readonly type: string };
  readonly context_management?: { readonly edits: readonly Block[] };
  readonly messages: readonly Message[];
}

const ANSWER = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'done' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
};

function faultOf({ thinking, messages, context_management: management }: Sent): string | undefined {
  const isResult = ({ content }: Message): boolean =>
    typeof content !== 'string' && content.some(({ type }) => type === 'tool_result');
  const asked = messages.findLastIndex((message) => message.role === 'user' && !isResult(message));
  const open = messages.slice(asked + 1).filter(({ role }) => role === 'assistant');
  const blocks = open.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  if (thinking?.type === 'enabled' && open.length > 0 && blocks[0]?.type !== 'thinking') {
    return 'Expected `thinking` or `redacted_thinking`, but found `tool_use`';
  }
  if (thinking !== undefined) return undefined;
  if (blocks.some(({ type }) => type === 'thinking')) return 'When thinking is disabled, it cannot contain `thinking`';
  const clears = management?.edits.some(({ type }) => type.startsWith('clear_thinking'));
  return clears === true ? '`clear_thinking` requires `thinking` to be enabled' : undefined;
}

function vendor(exchange: Exchange): void | Promise<void> {
  const fault = faultOf(JSON.parse(exchange.request.body) as Sent);
  const error = { type: 'error', error: { type: 'invalid_request_error', message: fault } };
  return fault === undefined ? json(ANSWER)(exchange) : json(error, 400)(exchange);
}

const protecting = newKey();
const logging = newKey();
let upstream: Upstream;
let gateways: Readonly<Record<string, GatewayProcess>>;
let databaseUrl: string;

beforeAll(async () => {
  upstream = await startUpstream();
  databaseUrl = await createDatabase(inject('databaseUrl'));
  const start = (key: string, mode: string): Promise<GatewayProcess> =>
    startGateway({
      resources: tenant({
        upstreamUrl: upstream.url,
        key,
        policy: { dlp: { mode } },
        provider: { slug: 'vendor', protocol: 'Messages' },
        organization: { messagesDefaultProvider: 'vendor' },
        prices: [{ model: 'vendor/*', input: '2', output: '8' }],
      }),
      redisUrl: inject('redisUrl'),
      databaseUrl,
    });
  const [first, second] = await Promise.all([start(protecting, 'Tokenize'), start(logging, 'AllowLog')]);
  gateways = { [protecting]: first, [logging]: second };
}, 60_000);

beforeEach(() => upstream.respond(vendor));

afterAll(async () => {
  for (const gateway of Object.values(gateways ?? {})) await gateway.stop();
  await upstream?.close();
});

const ENABLED = { type: 'enabled', budget_tokens: 2000 };
const call = { type: 'tool_use', id: 'toolu_1', name: 'find', input: { what: 'it' } };
const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'found' }] };
const thinks = (thinking: string, signature = 'c2ln'): Block => ({ type: 'thinking', thinking, signature });

async function ask(key: string, messages: readonly Message[], more: object = {}): Promise<[Response, Sent]> {
  const answer = await fetch(`${gateways[key]!.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ model: 'm', max_tokens: 4000, thinking: ENABLED, messages, ...more }),
  });
  return [answer, JSON.parse(upstream.requests.at(-1)!.body) as Sent];
}

const lossesOf = (answer: Response): readonly string[] => (answer.headers.get('x-gw-losses') ?? '').split(', ');
const contentOf = (sent: Sent, index: number): unknown => sent.messages[index]!.content;

const LOOPS: readonly (readonly [string, string, readonly Block[]])[] = [
  ['flagged by data protection', protecting, [thinks('write to grace@example.com'), call]],
  ['unsigned, of another vendor', logging, [thinks('of another vendor', ''), call]],
  ['not there, for another vendor made the call', logging, [call]],
];

describe.each(LOOPS)('an open call whose thinking is %s', (_why, key, content) => {
  const loop = [{ role: 'user', content: 'Find it.' }, { role: 'assistant', content }, result];

  test('goes on without thinking, which row and answer say', async () => {
    const [answer, sent] = await ask(key, loop);
    expect([answer.status, sent.thinking]).toEqual([200, undefined]);
    expect(contentOf(sent, 1)).toEqual([call]);
    expect(lossesOf(answer)).toContain('thinking[enabled]');
    const row = await rowOf(databaseUrl, answer.headers.get('request-id'));
    expect(row.losses).toContain('thinking[enabled]');
  });

  test('thinks again once the calls are over, though the history is sent again', async () => {
    const said = { role: 'assistant', content: [{ type: 'text', text: 'It is here.' }] };
    const [answer, sent] = await ask(key, [...loop, said, { role: 'user', content: 'Thank you. And that?' }]);
    expect([answer.status, sent.thinking]).toEqual([200, ENABLED]);
    expect(lossesOf(answer)).not.toContain('thinking[enabled]');
  });

  test('takes what else needs thinking with it: later thinking of the same turn, and what clears it', async () => {
    const second = { ...call, id: 'toolu_2' };
    const later = [
      { role: 'assistant', content: [thinks('fine'), second] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'and more' }] },
    ];
    const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }];
    const [answer, sent] = await ask(key, [...loop, ...later], { context_management: { edits } });
    expect([answer.status, sent.thinking]).toEqual([200, undefined]);
    expect(contentOf(sent, 3)).toEqual([second]);
    expect(sent.context_management).toEqual({ edits: [edits[1]] });
  });

  test('is no hindrance to a model that thinks as it sees fit', async () => {
    const [answer, sent] = await ask(key, loop, { thinking: { type: 'adaptive' } });
    expect([answer.status, sent.thinking]).toEqual([200, { type: 'adaptive' }]);
  });
});

describe('thinking that stays', () => {
  const loop = (asked: string, thinking: string): readonly Message[] => [
    { role: 'user', content: asked },
    { role: 'assistant', content: [thinks(thinking), call] },
    result,
  ];

  test('speaks of somebody by the tag that the gateway gave', async () => {
    const [answer, sent] = await ask(protecting, loop('Write to ada@example.com.', 'I write to «EMAIL_1» then.'));
    expect([answer.status, sent.thinking, lossesOf(answer)]).toEqual([200, ENABLED, ['']]);
    expect(contentOf(sent, 1)).toEqual([thinks('I write to «EMAIL_1» then.'), call]);
  });

  test('says what the conversation shows in clear, and nothing more', async () => {
    const shown = loop('The branch is jdoe_1985, look at it.', 'They said it: username: jdoe_1985.');
    const [answer, sent] = await ask(protecting, shown);
    expect(contentOf(sent, 0)).toBe('The branch is jdoe_1985, look at it.');
    expect([answer.status, contentOf(sent, 1)]).toEqual([200, shown[1]!.content]);
    const other = await ask(protecting, loop('The branch is xjdoe_1985.', 'They said it: username: jdoe_1985.'));
    expect(contentOf(other[1], 1)).toEqual([call]);
  });

  test('may begin the calls alone: what follows a result need not think', async () => {
    const messages = [
      ...loop('Find it.', 'hm'),
      { role: 'assistant', content: [{ ...call, id: 'toolu_2' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'and more' }] },
    ];
    const [answer, sent] = await ask(logging, messages);
    expect([answer.status, sent.thinking, sent.messages]).toEqual([200, ENABLED, messages]);
  });
});
