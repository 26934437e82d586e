import { chat, json } from '../harness/answers.ts';
import type { Answer } from '../harness/exchange.ts';

/** What a call that is answered says it used: 10 in, 1 out. */
export const GOOD = chat({ content: 'ok', usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } });
/** A 429. */
export const busy = (
  headers: Record<string, string> = {},
  body: object = { error: { message: 'slow down' } },
): Answer => json(body, 429, headers);
/** How Google tells a wait. */
export const retryInfo = (retryDelay: string): object => ({
  error: {
    code: 429,
    message: 'slow down',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
  },
});
/** How Google tells that waiting does not help. */
export const dailyQuota = {
  error: {
    code: 429,
    message: 'slow down',
    details: [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }],
      },
    ],
  },
};

/** The first words of a stream. */
export const CHUNK = {
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta: { content: 'some words' }, finish_reason: null }],
};

/** More bytes than any answer, or any event of a stream, may have. */
const TOO_MUCH = 66;

/** An answer that goes on and on after these first bytes. */
export function flood(type: string, before: string): Answer {
  return async ({ response, signal }) => {
    response.writeHead(200, { 'content-type': type });
    response.write(before);
    const piece = Buffer.alloc(1024 * 1024, 'x');
    for (let sent = 0; sent < TOO_MUCH && !signal.aborted; sent++) {
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        response.write(piece, () => resolve());
      });
    }
    response.end();
  };
}
