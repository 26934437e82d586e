import { setTimeout as sleep } from 'node:timers/promises';
import { chat, cutOff, hang, json } from '../harness/answers.ts';
import type { Exchange } from '../harness/exchange.ts';
import { startUpstream, type Upstream } from '../harness/upstream.ts';

/** How the provider is to treat a call: told in its message, so that any provider process would do. */
export interface Behaviour {
  readonly kind: 'plain' | 'slow' | 'late' | 'once-500' | 'always-500' | 'reset' | 'broken' | 'silent';
  readonly input: number;
  readonly output: number;
  /** How long a slow or late answer takes in all. */
  readonly ms: number;
}

/** What the provider knows of a call, by its model's name: its own truth, beside the gateway's. */
interface Seen {
  requests: number;
  /** Answers given to their last byte. */
  answered: number;
}

export interface Provider {
  readonly upstream: Upstream;
  readonly seen: ReadonlyMap<string, Seen>;
}

const WORDS = 6;

/** A provider that keeps its own books. */
export async function startProvider(): Promise<Provider> {
  const seen = new Map<string, Seen>();
  const upstream = await startUpstream(async (exchange) => {
    const { model, messages } = JSON.parse(exchange.request.body) as {
      readonly model: string;
      readonly messages: readonly { readonly content: string }[];
    };
    const record = seen.get(model) ?? { requests: 0, answered: 0 };
    seen.set(model, record);
    record.requests += 1;
    void exchange.request.ended.then((how) => (record.answered += how === 'answered' ? 1 : 0));
    const behaviour = JSON.parse(messages[0]?.content ?? '') as Behaviour;
    await answer(exchange, behaviour, record.requests);
  });
  return { upstream, seen };
}

async function answer(exchange: Exchange, behaviour: Behaviour, time: number): Promise<void> {
  const { kind, ms } = behaviour;
  const failure = json({ error: { message: 'out of order' } }, 500);
  switch (kind) {
    case 'silent':
      return hang()(exchange);
    case 'reset':
      return cutOff('reset')(exchange);
    case 'always-500':
      return failure(exchange);
    case 'once-500':
      return time === 1 ? failure(exchange) : say(exchange, behaviour);
    case 'late':
      await sleep(ms, undefined, { signal: exchange.signal }).catch(() => {});
      return say(exchange, behaviour);
    case 'plain':
    case 'slow':
    case 'broken':
      return say(exchange, behaviour);
  }
}

/** The words one by one; a slow answer takes its time between them, a broken one ends after the second. */
async function say(exchange: Exchange, { kind, input, output, ms }: Behaviour): Promise<void> {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const content = Array.from({ length: WORDS }, (_, index) => `word-${index} `);
  let passed = 0;
  const gate = {
    open: () => {},
    release: () => {},
    waiting: async () => {},
    step: async () => {},
    async pass(signal?: AbortSignal): Promise<boolean> {
      passed += 1;
      if (kind === 'broken' && passed > 3) {
        exchange.cut('reset');
        return false;
      }
      if (kind === 'slow') await sleep(ms / WORDS, undefined, { signal }).catch(() => {});
      return signal?.aborted !== true;
    },
  };
  await chat({ content, usage, ...((kind === 'slow' || kind === 'broken') && { gate }) })(exchange);
}
