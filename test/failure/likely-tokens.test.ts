import { expect, test } from 'vitest';
import { chat } from '../harness/answers.ts';
import { startStack } from './stack.ts';

test('tokens per minute reserve what is likely said: many short answers fit, whatever max_tokens allows', async () => {
  await using stack = await startStack({ workload: { limits: { tokensPerMinute: 8000 } } });
  const { ask, upstream } = stack;
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  upstream.respond(chat({ content: 'Hi.', usage }));
  // One after the other: each is settled at what it used.
  for (let call = 0; call < 20; call++) expect((await ask({ max_tokens: 7000 })).status).toBe(200);
});

test('a request that never fits is told so, and how to change it', async () => {
  await using stack = await startStack({ workload: { limits: { tokensPerMinute: 50 } } });
  const refused = await stack.ask({ messages: [{ role: 'user', content: 'word '.repeat(400) }] });
  expect([refused.status, refused.headers.get('x-should-retry'), refused.headers.get('retry-after')]).toEqual([
    429,
    'false',
    null,
  ]);
  const { error } = (await refused.json()) as { error: { message: string } };
  expect(error.message).toMatch(/can never be served\. Shorten it, or raise limits\.tokensPerMinute of Workload \S+\./);
});
