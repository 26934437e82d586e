import { expect, test } from 'vitest';
import { outputTokensOf } from './counts.ts';

test.each([
  [{}, undefined],
  [{ max_tokens: 10 }, 10],
  [{ max_tokens: 10, max_completion_tokens: 20 }, 20],
  [{ max_output_tokens: 10.5, n: 3 }, 33],
  [{ max_tokens: 10, n: 1e9 }, 1280],
  [{ max_tokens: 1e300 }, Number.MAX_SAFE_INTEGER],
  [{ max_tokens: '10' }, undefined],
  [{ max_tokens: -1 }, undefined],
])('the most output that %j asks for is %s', (body, tokens) => {
  expect(outputTokensOf(body)).toBe(tokens);
});
