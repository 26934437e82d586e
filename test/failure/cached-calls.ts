import { hash, randomBytes } from 'node:crypto';
import { chat } from '../harness/answers.ts';
import { newKey, resource } from '../harness/gateway.ts';
import type { Stack } from './stack.ts';

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

/** One of many organizations on one gateway: each has answers of its own in the cache. */
export interface Organization {
  readonly key: string;
  readonly resources: readonly object[];
}

/** An organization with a workload and a key, under a policy; prices and providers are those of the stack. */
export function organization(name: string, policy: object = CACHED, workload: object = {}): Organization {
  const key = newKey();
  const value = hash('sha256', key, 'hex');
  return {
    key,
    resources: [
      resource('Organization', name, {
        contact: { email: `ops@${name}.example` },
        priceBookRef: { name: 'prices' },
      }),
      resource('Workload', name, { organizationRef: { name }, ...workload }),
      resource('VirtualKey', name, { workloadRef: { name }, hash: { algorithm: 'SHA256', value } }),
      resource('Policy', name, { targetRefs: [{ kind: 'Organization', name }], defaults: policy }),
    ],
  };
}

/** What an organization asks on a stack, from now on, of a provider that answers as it does at first. */
export function callsOf({ key }: Organization, stack: Stack) {
  const before = stack.upstream.requests.length;
  stack.upstream.respond(chat({ content: 'Hello.' }));
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const ask = (body: object = {}, init: RequestInit = {}): Promise<Response> => stack.ask(body, { headers, ...init });
  /** How often its provider was asked. */
  const sent = (): number => stack.upstream.requests.length - before;
  return { ...stack, key, ask, sent };
}
