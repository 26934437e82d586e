import { randomBytes } from 'node:crypto';

export const CACHED = {
  contentRetention: 'Enabled',
  caching: { responseCache: { mode: 'Enabled', ttlSeconds: 600 } },
};

export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
export const from = (email: string) => ({ messages: [{ role: 'user', content: `Write to ${email}` }] });

/** Asks, and tells what came with it. */
export async function told(answering: Promise<Response>) {
  const answer = await answering;
  return {
    status: answer.status,
    cache: answer.headers.get('x-gw-cache'),
    id: answer.headers.get('x-request-id'),
    text: await answer.text(),
  };
}

/** An answer is stored behind its back: asks until one comes from the cache. */
export async function untilHit(ask: () => Promise<Response>): ReturnType<typeof told> {
  for (let tries = 0; tries < 100; tries++) {
    const answer = await told(ask());
    if (answer.cache === 'hit') return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nothing came from the cache');
}

export const newLine = (id: string): string => `${id}:${randomBytes(32).toString('base64')}`;
