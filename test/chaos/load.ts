import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from './provider.ts';
import { randomFor, type Random } from '../harness/random.ts';
import type { Workload } from './tenants.ts';
import type { Life, World } from './world.ts';

/** One call as its client knows it. */
export interface Call {
  /** Name of its model, which is its own: by that it is found in the rows and in the provider's books. */
  readonly model: string;
  readonly workload: Workload;
  readonly behaviour: Behaviour;
  readonly stream: boolean;
  readonly life: Life;
  /** Milliseconds after which the client gives up; undefined: it waits. */
  readonly hangUpAfter: number | undefined;
  readonly outcome: Told;
}

/** What the client was told. */
type Told =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly code: string | undefined;
      readonly id: string | null;
    }
  /** A stream that ended before its end. */
  | { readonly kind: 'broken'; readonly status: number; readonly error: string }
  | { readonly kind: 'left' }
  | { readonly kind: 'unreachable'; readonly error: string }
  | { readonly kind: 'hung' };

/** Clients that call without a pause. */
export interface Load {
  readonly calls: readonly Call[];
  /** No new calls; resolves when all have ended. */
  stop(): Promise<void>;
}

const CLIENTS = 10;
/** Longer than anything that a call may wait for. */
const HUNG_MS = 60_000;
const MOST_TOKENS = 100;

export function startLoad(world: World, workloads: readonly Workload[], seed: number, batch: number): Load {
  const calls: Call[] = [];
  let stopped = false;
  let number = 0;
  const client = async (index: number): Promise<void> => {
    const random = randomFor(seed, `batch ${batch} client ${index}`);
    while (!stopped) {
      const life = random.pick(world.slots as [World['slots'][number], ...World['slots']]).life;
      if (!life || life.ending) await sleep(20);
      else calls.push(await ask(life, random.weighted(workloads), `b${batch}-m${number++}`, random));
      await sleep(random.whole(5, 60));
    }
  };
  const running = Array.from({ length: CLIENTS }, (_, index) => client(index));
  return {
    calls,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

const KINDS: readonly { readonly kind: Behaviour['kind']; readonly weight: number }[] = [
  { kind: 'plain', weight: 10 },
  { kind: 'slow', weight: 5 },
  { kind: 'late', weight: 4 },
  { kind: 'once-500', weight: 1 },
  { kind: 'always-500', weight: 0.5 },
  { kind: 'reset', weight: 0.5 },
  { kind: 'broken', weight: 1 },
  { kind: 'silent', weight: 0.3 },
];

async function ask(life: Life, workload: Workload, model: string, random: Random): Promise<Call> {
  const behaviour: Behaviour = {
    kind: random.weighted(KINDS).kind,
    input: random.whole(1, 60),
    output: random.whole(1, MOST_TOKENS),
    ms: random.whole(50, 1500),
  };
  const stream = random.chance(0.5);
  const hangUpAfter = random.chance(0.12) ? random.whole(1, 800) : undefined;
  const told = tell(life, { model, workload, behaviour, stream, hangUpAfter });
  return { model, workload, behaviour, stream, life, hangUpAfter, outcome: await told };
}

type Asked = Omit<Call, 'life' | 'outcome'>;

async function tell(life: Life, { model, workload, behaviour, stream, hangUpAfter }: Asked): Promise<Told> {
  const hung = AbortSignal.timeout(HUNG_MS);
  const left = hangUpAfter === undefined ? undefined : AbortSignal.timeout(hangUpAfter);
  let status = 0;
  try {
    const response = await fetch(`${life.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${workload.key}`,
        'x-gw-upstream-timeout': behaviour.kind === 'silent' ? '1' : '20',
      },
      body: JSON.stringify({
        model: `upstream/${model}`,
        stream,
        max_tokens: MOST_TOKENS,
        messages: [{ role: 'user', content: JSON.stringify(behaviour) }],
      }),
      signal: left ? AbortSignal.any([hung, left]) : hung,
    });
    status = response.status;
    const id = response.headers.get('x-request-id');
    return toldBy(status, id, response.headers.get('content-type') ?? '', await response.text());
  } catch (error) {
    if (left?.aborted) return { kind: 'left' };
    if (hung.aborted) return { kind: 'hung' };
    const text = error instanceof Error ? `${error.message} ${String(error.cause)}` : String(error);
    return status === 0 ? { kind: 'unreachable', error: text } : { kind: 'broken', status, error: text };
  }
}

function toldBy(status: number, id: string | null, type: string, text: string): Told {
  if (!type.startsWith('text/event-stream')) {
    const body = JSON.parse(text) as { readonly error?: { readonly code?: string } };
    return { kind: 'answered', status, code: body.error?.code, id };
  }
  const last = text
    .trimEnd()
    .split('\n')
    .findLast((line) => line.startsWith('data: '));
  const code = /"error":\{.*?"code":"(\w+)"/s.exec(text)?.[1];
  if (code === undefined && last !== 'data: [DONE]')
    return { kind: 'broken', status, error: 'the stream ended before its end' };
  return { kind: 'answered', status, code, id };
}
