import { closedLoop, pacedLoop, quantile } from './load.ts';
import { measure, type Measure } from './measures.ts';
import { cpuMicroseconds } from './processes.ts';
import { prompt } from './prompts.ts';
import { costOf, inTurns, refuseFailures, type Side, type Sides } from './sides.ts';

/** What a call costs, in processor's time of the whole process. */

export const CONNECTIONS = 64;
const STREAM_CONNECTIONS = 16;
const CHUNKS = 200;
const TRANSLATED = 'translated/static';

/** The question: the bare proxy knows one mode only, the gateway is asked for the translated one if there is one. */
export interface Asked {
  readonly verbatim: string;
  readonly translated?: string;
}

const askedOf = (side: Side, { verbatim, translated }: Asked): string =>
  side.name === 'governed' ? (translated ?? verbatim) : verbatim;

/** As many calls as the side serves. */
export async function buffered(
  sides: Sides,
  name: string,
  asked: Asked,
  requests: number,
  rounds: number,
): Promise<Measure[]> {
  const { bare, governed } = await inTurns(sides, rounds, (side) =>
    costOf(sides.client, side, askedOf(side, asked), CONNECTIONS, requests),
  );
  const cpu = [bare.map((one) => one.cpu), governed.map((one) => one.cpu)] as const;
  const rate = [bare.map((one) => one.rate), governed.map((one) => one.rate)] as const;
  return [
    measure(`${name}, at saturation: CPU`, 'µs/call', ...cpu),
    measure(`${name}, at saturation: throughput`, 'calls/s', ...rate, 'ratio', 'free'),
  ];
}

export const translatedCalls = (sides: Sides, rounds: number): Promise<Measure[]> =>
  buffered(
    sides,
    '2 KiB, chat to messages',
    { verbatim: prompt(2048), translated: prompt(2048, { model: TRANSLATED }) },
    4000,
    rounds,
  );

/**
 * The same number of calls a second to both. A machine that cannot keep up with them makes it another measurement: then
 * nothing is judged, and that is said.
 */
export async function equalLoad(sides: Sides, perSecond: number, rounds: number): Promise<Measure[]> {
  const seconds = 3;
  const { bare, governed } = await inTurns(sides, rounds, async (side) => {
    const before = cpuMicroseconds(side.pid);
    const began = performance.now();
    const result = await pacedLoop(sides.client, side, prompt(2048), perSecond, seconds);
    refuseFailures(side, result.failures);
    const held = (performance.now() - began) / 1000 / seconds < 1.1;
    return { cpu: (cpuMicroseconds(side.pid) - before) / result.requests, held };
  });
  if (![...bare, ...governed].every(({ held }) => held)) {
    console.warn(`not judged: this machine could not hold ${perSecond} calls a second (BENCH_RATE=… for fewer)`);
    return [];
  }
  const cpu = [bare.map((one) => one.cpu), governed.map((one) => one.cpu)] as const;
  return [measure(`2 KiB, at ${perSecond} calls/s: CPU`, 'µs/call', ...cpu)];
}

/** How long clients wait where both serve half of what the gateway can. */
export async function latency(sides: Sides, rounds: number): Promise<Measure[]> {
  const body = prompt(2048);
  const saturated = await closedLoop(sides.client, sides.governed, body, CONNECTIONS, 3000);
  const rate = saturated.requests / saturated.seconds / 2;
  const { bare, governed } = await inTurns(sides, rounds, async (side) => {
    const { latencies, failures } = await pacedLoop(sides.client, side, body, rate, 3);
    refuseFailures(side, failures);
    return { p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
  });
  const of = (name: 'p50' | 'p99'): Measure =>
    measure(
      `2 KiB at half of saturation: ${name}`,
      'ms',
      bare.map((one) => one[name]),
      governed.map((one) => one[name]),
      'difference',
      'free',
    );
  return [of('p50'), of('p99')];
}

/** What a chunk of a stream costs; the call itself is in it. */
export async function streamed(sides: Sides, name: string, asked: Asked, rounds: number): Promise<Measure[]> {
  const asking = 160;
  const { bare, governed } = await inTurns(sides, rounds, (side) =>
    costOf(sides.client, side, askedOf(side, asked), STREAM_CONNECTIONS, asking),
  );
  const cpu = [bare.map((one) => one.cpu / CHUNKS), governed.map((one) => one.cpu / CHUNKS)] as const;
  const rate = [bare.map((one) => one.rate * CHUNKS), governed.map((one) => one.rate * CHUNKS)] as const;
  return [
    measure(`${name}: CPU`, 'µs/chunk', ...cpu),
    measure(`${name}: throughput`, 'chunks/s', ...rate, 'ratio', 'free'),
  ];
}

export async function streams(sides: Sides, rounds: number): Promise<Measure[]> {
  const verbatim = prompt(2048, { stream: true });
  const other = prompt(2048, { stream: true, model: TRANSLATED });
  return [
    ...(await streamed(sides, `${CHUNKS} chunks streamed`, { verbatim }, rounds)),
    ...(await streamed(sides, `${CHUNKS} chunks streamed, messages to chat`, { verbatim, translated: other }, rounds)),
  ];
}

/**
 * What a call answered from the cache costs. In the place of `bare` stands what it is held against: the same request where
 * nothing is cached or retained; and one of the same workload that the provider has to answer, since no two are alike.
 */
export async function cacheHits(sides: Sides, kilobytes: number, rounds: number): Promise<Measure[]> {
  const name = `${kilobytes} KiB from the cache`;
  const requests = kilobytes === 2 ? 4000 : 2000;
  const again = prompt(kilobytes * 1024);
  let asked = 0;
  const fresh = (): string => again.replace('"max_tokens"', `"seed":${asked++},"max_tokens"`);
  const cpuOf = async (side: Side, body: string | (() => string)): Promise<number> =>
    (await costOf(sides.client, side, body, CONNECTIONS, requests)).cpu;
  const found: number[] = [];
  const served: number[] = [];
  const missed: number[] = [];
  await cpuOf(sides.cached, again);
  await cpuOf(sides.cached, fresh);
  for (let round = 0; round < rounds; round++) {
    served.push(await cpuOf(sides.governed, again));
    found.push(await cpuOf(sides.cached, again));
    missed.push(await cpuOf(sides.cached, fresh));
  }
  return [
    measure(`${name} against served: CPU`, 'µs/call', served, found),
    measure(`${name} against a miss: CPU`, 'µs/call', missed, found),
  ];
}
