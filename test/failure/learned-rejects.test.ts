import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chat, json } from '../harness/answers.ts';
import { rowOf } from '../harness/ledger-rows.ts';
import { startStack, type Stack } from './stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ provider: { retry: { attempts: 5 } } });
}, 60_000);
afterAll(() => stack[Symbol.asyncDispose]());

let before = 0;
beforeEach(() => {
  before = stack.upstream.requests.length;
});
const asked = () => stack.upstream.requests.length - before;

const good = chat({ content: 'ok', usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } });

describe('an optional member that the provider refuses by name', () => {
  const refused = json({ error: { message: "Unsupported parameter: 'seed' is not supported with this model." } }, 400);
  const body = (index: number) => JSON.parse(stack.upstream.requests[before + index]!.body) as Record<string, unknown>;

  test('is left out, named as a loss, and not sent again to that model', async () => {
    stack.upstream.respond([refused, good]);
    const answer = await stack.ask({ model: 'upstream/learner', seed: 7, max_tokens: 10 });
    expect(answer.status).toBe(200);
    expect([body(0)['seed'], body(1)['seed'], body(1)['max_tokens']]).toEqual([7, undefined, 10]);
    const row = await rowOf(stack.databaseUrl, answer.headers.get('x-request-id'));
    expect(row).toMatchObject({ losses: ['seed'], attempts: [{ status: 400 }, { status: 200 }] });
    await stack.ask({ model: 'upstream/learner', seed: 7 });
    expect(body(2)).not.toHaveProperty('seed');
    await stack.ask({ model: 'upstream/other', seed: 7 });
    expect(body(3)).toHaveProperty('seed');
  });

  test('costs one attempt more at most, and the words stay the provider’s', async () => {
    stack.upstream.respond(refused);
    const answer = await stack.ask({ model: 'upstream/stubborn', seed: 7 });
    expect([answer.status, asked()]).toEqual([400, 2]);
    expect(((await answer.json()) as { error: { message: string } }).error.message).toContain(
      "'seed' is not supported",
    );
  });

  test.each([
    ['a member that decides', "Unsupported parameter: 'messages'", {}],
    ['a member that was not sent', "Unsupported parameter: 'seed'", {}],
    ['a value, not a member', 'temperature must be at most 1', { temperature: 1.5 }],
  ])('%s is not dropped', async (_name, message, more) => {
    stack.upstream.respond(json({ error: { message } }, 400));
    const answer = await stack.ask({ model: 'upstream/strict', ...more });
    expect([answer.status, asked()]).toEqual([400, 1]);
  });
});
