import { Agent, type Dispatcher } from 'undici';

/** Where load goes and what it says. */
export interface Target {
  readonly origin: string;
  readonly key: string;
  /** Where not `/v1/chat/completions`. */
  readonly path?: string;
  /** Besides content type and key. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Latencies of one run, milliseconds, sorted. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly latencies: readonly number[];
  readonly failures: number;
}

/** The value below which `share` of the sorted values lie. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** A client of its own connections. */
export function createClient(options: Agent.Options = {}): Agent {
  return new Agent({
    pipelining: 1,
    keepAliveTimeout: 60_000,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    ...options,
  });
}

function requestTo(target: Target, body: string): Dispatcher.DispatchOptions {
  const { origin, key, path = '/v1/chat/completions' } = target;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...target.headers };
  return { origin, path, method: 'POST', headers, body };
}

/** Sends one request; resolves with whether the whole answer came with status 200. */
export function send(client: Agent, target: Target, body: string): Promise<boolean> {
  return new Promise((resolve) => {
    let status = 0;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: (_controller, code) => {
        status = code;
      },
      onResponseData: () => {},
      onResponseEnd: () => resolve(status === 200),
      onResponseError: () => resolve(false),
    };
    client.dispatch(requestTo(target, body), handler);
  });
}

/**
 * Opens a stream and leaves it open. Resolves when its first bytes arrive; rejects when it ends or fails before any do.
 * `onOver` is called when the stream ends or fails, after its first bytes too.
 */
export function openStream(
  client: Agent,
  target: Target,
  body: string,
  onOver: (error?: Error) => void = () => {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => {},
      onResponseStart: () => {},
      onResponseData: () => resolve(),
      onResponseEnd: () => {
        reject(new Error('the stream ended'));
        onOver();
      },
      onResponseError: (_controller, error) => {
        reject(error);
        onOver(error);
      },
    };
    client.dispatch(requestTo(target, body), handler);
  });
}

/** Keeps `connections` requests going for a number of requests: all alike, or each with a body of its own. */
export function closedLoop(
  client: Agent,
  target: Target,
  body: string | (() => string),
  connections: number,
  requests: number,
): Promise<LoadResult> {
  let left = requests;
  return keepGoing(client, target, body, connections, () => left-- > 0);
}

/** Keeps `connections` requests going for so many seconds; then no more are sent, and those under way end. */
export function timedLoop(
  client: Agent,
  target: Target,
  body: string,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  const until = performance.now() + seconds * 1000;
  return keepGoing(client, target, body, connections, () => performance.now() < until);
}

/** Each of `connections` sends one request after another while `goesOn`. */
async function keepGoing(
  client: Agent,
  target: Target,
  body: string | (() => string),
  connections: number,
  goesOn: () => boolean,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (goesOn()) {
        const at = performance.now();
        if (!(await send(client, target, typeof body === 'string' ? body : body()))) failures++;
        latencies.push(performance.now() - at);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  return { requests: latencies.length, seconds, latencies: latencies.sort((a, b) => a - b), failures };
}

/** Sends at a fixed rate whatever the answers take, so that waiting shows as latency. */
export async function pacedLoop(
  client: Agent,
  target: Target,
  body: string,
  perSecond: number,
  seconds: number,
): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  const pending: Promise<void>[] = [];
  const started = performance.now();
  const total = Math.floor(perSecond * seconds);
  for (let index = 0; index < total; index++) {
    const due = started + (index * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait));
    pending.push(
      send(client, target, body).then((ok) => {
        if (!ok) failures++;
        latencies.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(pending);
  return { requests: total, seconds, latencies: latencies.sort((a, b) => a - b), failures };
}
