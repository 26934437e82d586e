import { expect, test } from 'vitest';
import type { CallRequest } from '#/call/call.ts';
import type { ToolReply } from '#/call/tool-call.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { chatLoop } from '#/wire/chat/tool-loop.ts';
import { readDocument } from '#/wire/document/document.ts';
import { finish } from '#/wire/document/steps.ts';
import type { LoopCodec, LoopTool } from '#/wire/hub/tool-loop/loop-codec.ts';
import { responsesLoop } from '#/wire/responses/tool-loop.ts';
import { runToolLoop } from './tool-loop.ts';

/** How a loop ends: with which error, with which rows, and whether its client may repeat it. */

const ID = '019aa58a-3a01-7000-8000-00000000002a';
const TOOL: LoopTool = {
  alias: 'crm__find',
  server: 'crm',
  name: 'find',
  description: 'Finds',
  inputSchema: { type: 'object' },
  annotations: undefined,
  asksClient: false,
};
const CRM = { type: 'mcp', server_label: 'crm', require_approval: 'never' };
const FOUND: ToolReply = { kind: 'result', status: 200, text: '{"content":[]}', unscanned: [], limits: {} };

interface Wanted {
  readonly codec?: LoopCodec;
  readonly body?: object;
  /** Answers of the model; the last one is repeated. */
  readonly answers?: readonly string[];
  readonly callTool?: () => ToolReply;
  readonly signal?: AbortSignal;
  readonly keep?: (bytes: number) => void;
}

/** Runs a loop to its end: the error, the rows that it seals itself, and the requests of the model. */
async function run({ codec = chatLoop, body = {}, answers = [], callTool = () => FOUND, signal, keep }: Wanted) {
  const document = readDocument(
    codec === chatLoop ? 'chat' : 'responses',
    JSON.stringify({ model: 'm', messages: [], input: 'Go.', tools: [CRM], ...body }),
  );
  const request = {
    id: ID,
    startedAt: 1,
    key: { id: 'key', workload: { id: 'workload', policy: { answerTimeoutSeconds: 60 } } },
    snapshot: { revision: 'a' },
    surface: 'chat',
    headers: {},
    signal: signal ?? new AbortController().signal,
    keep,
  } as unknown as CallRequest;
  const rows: { readonly id: string; readonly parent?: string; readonly code: string }[] = [];
  const asked: string[] = [];
  let said = '';
  const conversation = finish(codec.begin(document, [TOOL], ID));
  const loop = { request, conversation, stream: document.body['stream'] === true, remove: [], maxCalls: 256 };
  const running = runToolLoop(
    loop,
    (answer) => {
      if (answer.kind === 'body') said += answer.text;
      return true;
    },
    {
      serve: async (_, text, emit) => {
        asked.push(text);
        await emit({ kind: 'body', text: answers[asked.length - 1] ?? answers.at(-1)! });
      },
      callTool: async () => callTool(),
      snapshot: () => undefined,
      seal: ({ id, parent }, { code }) => rows.push({ id, ...(parent !== undefined && { parent }), code }),
    },
  );
  const error: unknown = await running.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { error, rows, asked, said };
}

const answer = (message: object, more: object = {}): string =>
  JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }], ...more });
const called = (id: string) => ({ id, type: 'function', function: { name: 'crm__find', arguments: '{}' } });
const calls = (...ids: readonly string[]): string =>
  answer({ role: 'assistant', content: null, tool_calls: ids.map(called) });
const says = (content: string, more: object = {}): string => answer({ role: 'assistant', content }, more);
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['deeper than can be scanned', says('Done.').replace('{', `{"deep":${nested(1000)},`)],
  ['of more values than can be located', says('Done.', { many: Array.from({ length: 260_000 }, () => 0) })],
])('a last answer %s is a failure of the provider, not to be repeated', async (_, last) => {
  const { error, rows, said } = await run({ answers: [calls('a'), last] });
  expect(error).toMatchObject({ code: 'upstream_error', shouldRetry: false });
  expect(rows).toEqual([{ id: expect.not.stringContaining(ID) as string, parent: ID, code: 'upstream_error' }]);
  expect(said).toBe('');
});

test('events that are not JSON are a failure of the provider', async () => {
  const { error } = await run({ codec: responsesLoop, body: { stream: true }, answers: ['data: {nope\n\n'] });
  expect(error).toMatchObject({ code: 'upstream_error' });
});

test('a fault of the gateway while a tool runs is not repeated, and its cause is kept', async () => {
  const cause = new TypeError('unforeseen');
  const callTool = (): never => {
    throw cause;
  };
  const { error } = await run({ answers: [calls('a')], callTool });
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({ code: 'internal_error', shouldRetry: false, cause: { cause } });
});

test('a client that hangs up while a tool runs stays one that hung up', async () => {
  const controller = new AbortController();
  const reason = new Error('the client left');
  const callTool = (): never => {
    controller.abort(reason);
    throw reason;
  };
  const { error } = await run({ answers: [calls('a')], callTool, signal: controller.signal });
  expect(error).toBe(reason);
});

test('a request that no round can ask has a row of its own', async () => {
  const { error, rows, asked } = await run({ body: { user: 'x'.repeat(4 * 1024 * 1024) } });
  expect(error).toMatchObject({ code: 'tool_loop_limit' });
  expect(rows).toEqual([{ id: ID, code: 'tool_loop_limit' }]);
  expect(asked).toEqual([]);
});

test.each([
  ['one id', ['a', 'a']],
  ['no ids', ['', '']],
])('calls with %s in one answer are not run', async (_, ids) => {
  let ran = 0;
  const callTool = (): ToolReply => (ran++, FOUND);
  const { error, rows } = await run({ answers: [calls(...ids)], callTool });
  expect(error).toMatchObject({ code: 'upstream_error' });
  expect(rows).toMatchObject([{ parent: ID, code: 'upstream_error' }]);
  expect(ran).toBe(0);
});

test('chunks say when the answer was made, also where the provider does not', async () => {
  for (const created of [undefined, null, 'x', 5]) {
    const { said } = await run({ body: { stream: true }, answers: [says('Done.', { created })] });
    const times = [...said.matchAll(/"created":([^,}]*)/g)].map(([, time]) => time);
    expect(times.length).toBeGreaterThan(0);
    for (const time of times) expect(time).toMatch(created === 5 ? /^5$/ : /^\d{10}$/);
  }
});

test('answers and results take memory of the request, and end it without room', async () => {
  const answers = [calls('a'), says('Done.')];
  const result = { ...FOUND, text: JSON.stringify({ content: [{ type: 'text', text: 'x'.repeat(5000) }] }) };
  let kept = 0;
  const wanted = { answers, callTool: () => result };
  expect((await run({ ...wanted, keep: (bytes) => void (kept += bytes) })).error).toBeUndefined();
  expect(kept).toBe(answers.join('').length + 5000);
  const full = new GatewayError('rate_limit_exceeded', 'no room', { shouldRetry: true });
  const keep = (bytes: number): void => {
    if (bytes === 5000) throw full;
  };
  const { error, asked } = await run({ ...wanted, keep });
  expect(error).toMatchObject({ code: 'rate_limit_exceeded', shouldRetry: false });
  expect(asked).toHaveLength(1);
});
