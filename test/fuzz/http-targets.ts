import { randomFor } from '../harness/random.ts';
import { changedReply, plainReply, readCorpora } from './answers.ts';
import { startHttpWorld } from './http-world.ts';
import { nextCall } from './requests.ts';

/** What a run of a target did. */
export interface FuzzReport {
  readonly attempts: number;
  /** What did not hold, each once. */
  readonly faults: readonly string[];
  /** How attempts ended, and how often, where a target counts that. */
  readonly outcomes?: Readonly<Record<string, number>>;
}

export interface FuzzLimits {
  readonly seed: number;
  readonly seconds: number;
  readonly attempts: number;
}

export interface FuzzServers {
  readonly redisUrl: string;
  readonly databaseUrl: string;
}

/** Calls under way at once. */
const AT_ONCE = 24;

/** Changed requests of every surface, answered by providers that behave. */
export function fuzzRequests(limits: FuzzLimits, servers: FuzzServers): Promise<FuzzReport> {
  return fuzzHttp(limits, servers, false);
}

/** Changed answers and streams of every family, for requests that are hardly changed. */
export function fuzzAnswers(limits: FuzzLimits, servers: FuzzServers): Promise<FuzzReport> {
  return fuzzHttp(limits, servers, true);
}

async function fuzzHttp(
  { seed, seconds, attempts }: FuzzLimits,
  servers: FuzzServers,
  lies: boolean,
): Promise<FuzzReport> {
  const corpora = readCorpora();
  const purpose = lies ? 'answers' : 'requests';
  let answered = 0;
  const world = await startHttpWorld(servers, (asked) => {
    answered += 1;
    const random = randomFor(seed, `answer ${answered}`);
    return lies ? changedReply(asked, corpora, random) : plainReply(asked, corpora);
  });
  try {
    const end = performance.now() + seconds * 1000;
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < attempts && performance.now() < end) {
        next += 1;
        const random = randomFor(seed, `${purpose} ${next}`);
        await world.call(nextCall(world.tenants, random, lies));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { attempts: world.calls, faults: await world.finish() };
  } finally {
    await world.close();
  }
}
