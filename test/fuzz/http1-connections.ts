import { UpstreamFault } from '#/ports/provider.ts';
import { createTransport, type Transport } from '#/providers/http/transport.ts';
import type { FuzzLimits, FuzzReport } from './http-targets.ts';
import { startHostileServer, type Answered } from './http1-server.ts';
import { law } from './pure-target.ts';

const MOST_FAULTS = 10;
const AT_ONCE = 8;
/** Longest that a request may take which no server keeps waiting: generous, since machines are busy. */
const LONGEST_MS = 20_000;
const MOST_BYTES = 1024 * 1024;
const KINDS: ReadonlySet<string> = new Set(['reset', 'protocol']);

/**
 * Requests over real connections to a server that says more than was asked, closes when it likes, and answers oddly: each
 * is told its own answer or a typed fault, none another's, and no connection is used on which more came than an answer.
 */
export async function fuzzHttp1Connections({ seed, seconds, attempts }: FuzzLimits): Promise<FuzzReport> {
  const faults = new Map<string, string>();
  const outcomes: Record<string, number> = {};
  const end = performance.now() + seconds * 1000;
  const server = await startHostileServer(seed);
  const transport = createTransport();
  let made = 0;
  const attempt = async (number: number): Promise<void> => {
    const outcome = await outcomeOf(transport, server.origin, number);
    const answered = server.answered.get(number);
    try {
      hold(outcome, number, answered);
    } catch (error) {
      const text = `${(error as Error).message} (${answered?.plan})`;
      if (!faults.has(text)) faults.set(text, `http1-connections, request ${number} of seed ${seed}: ${text}`);
    }
    const name = 'kind' in outcome ? outcome.kind : 'told';
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  };
  try {
    while (made < attempts && performance.now() < end && faults.size < MOST_FAULTS) {
      const batch = Array.from({ length: Math.min(AT_ONCE, attempts - made) }, (_, index) => made + index);
      made += batch.length;
      await Promise.all(batch.map((number) => attempt(number)));
      await inTime(server.poisonIdle(), 'a connection on which more came stays open');
      for (const text of server.misused) faults.set(text, `http1-connections, before ${made} of seed ${seed}: ${text}`);
    }
  } catch (error) {
    faults.set('thrown', `http1-connections, before ${made} of seed ${seed}: ${String(error)}`);
  } finally {
    await transport.close();
    await server.stop();
  }
  return { attempts: made, faults: [...faults.values()], outcomes };
}

type Outcome = { readonly body: string } | { readonly kind: string; readonly error: unknown };

async function outcomeOf(transport: Transport, origin: string, number: number): Promise<Outcome> {
  const signal = new AbortController().signal;
  const request = { origin, path: `/${number}`, headers: { 'x-n': String(number) }, signal };
  try {
    const incoming = await transport.send({
      ...request,
      method: 'POST',
      body: '{}',
      timeoutMs: LONGEST_MS,
      idle: false,
    });
    return { body: await incoming.text(MOST_BYTES) };
  } catch (error) {
    return { kind: error instanceof UpstreamFault ? error.kind : 'untyped', error };
  }
}

function hold(outcome: Outcome, number: number, answered: Answered | undefined): void {
  if ('kind' in outcome) {
    law(KINDS.has(outcome.kind), `ended with ${outcome.kind}: ${String(outcome.error)}`);
    law(!answered?.sure, `a good answer is not told: ${String(outcome.error)}`);
    return;
  }
  law(answered !== undefined, 'told an answer to a request that did not arrive');
  law(!outcome.body.includes('POISON'), 'told what was no answer');
  const own = `answer ${number} `;
  law(
    outcome.body.startsWith(own) || own.startsWith(outcome.body),
    `told the answer to another request: ${JSON.stringify(outcome.body.slice(0, 90))}`,
  );
  law(answered.body === undefined || outcome.body === answered.body, 'told another body than was sent');
}

async function inTime(work: Promise<void>, otherwise: string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), LONGEST_MS);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
