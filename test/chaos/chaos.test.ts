import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { quiesce, violations } from './checks.ts';
import { FAULTS, type Fault } from './faults.ts';
import { startLoad, type Call } from './load.ts';
import { randomFor, type Random } from '../harness/random.ts';
import { startWorld, type World } from './world.ts';

/** `make test-chaos` makes 200 rounds; without being told, a few. */
const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? 8);
/** The same seed draws the same faults in the same rounds. What they meet is not the same: it is real processes. */
const SEED = Number(process.env['CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** With the same seed and CHAOS_ROUNDS: begins at this round, to repeat what went wrong there. */
const FROM = Number(process.env['CHAOS_FROM'] ?? 0);
/** Only these faults, by a part of their names: to look for the cause of something. */
const ONLY = process.env['CHAOS_ONLY'] ?? '';
/** Rounds of faults between two rests, after which everything has to be in order. */
const PER_BATCH = ROUNDS > 8 ? 8 : 4;
/** What limits per minute are counted over. */
const WINDOW_MS = 60_000;

test('whatever fails under load: one row a call, no money spent twice or over budget, books and chain intact', async () => {
  const batches = Math.ceil(ROUNDS / PER_BATCH);
  await using world = await startWorld(batches);
  say(`chaos: ${ROUNDS} rounds, CHAOS_SEED=${SEED}`);
  for (let batch = Math.floor(FROM / PER_BATCH); batch < batches; batch++) {
    const rounds = Math.min(PER_BATCH, ROUNDS - batch * PER_BATCH);
    await runBatch(world, batch, rounds);
  }
}, 3_600_000);

async function runBatch(world: World, batch: number, rounds: number): Promise<void> {
  const { workloads } = world.batches[batch]!;
  const begin = performance.now();
  const load = startLoad(world, workloads, SEED, batch);
  const theme = THEMES[batch % THEMES.length]!;
  for (let round = 0; round < rounds; round++) {
    const random = randomFor(SEED, `round ${batch * PER_BATCH + round}`);
    const faults = draw(random, theme);
    say(`${seconds(begin)} round ${batch * PER_BATCH + round}: ${faults.map(({ name }) => name).join('; ')}`);
    await sleep(random.whole(100, 1200));
    await Promise.all(
      faults.map(async (fault) => {
        await sleep(random.whole(0, 300));
        await fault.run(world, random);
      }),
    );
    await sleep(random.whole(100, 600));
  }
  await load.stop();
  const loaded = performance.now() - begin;
  const restless = await quiesce(world, [...new Set(workloads.map(({ organization }) => organization))], say);
  const rested = seconds(begin);
  const found = await violations({
    world,
    workloads,
    calls: load.calls,
    countsRates: !theme.losesData && loaded < WINDOW_MS,
    losesCalls: theme.losesData && theme.killsGateways,
  });
  say(`batch ${batch}: load ${Math.round(loaded / 1000)} s, rest ${rested}, checked ${seconds(begin)}`);
  say(outcomes(world, load.calls));
  const wrong = [...restless, ...found];
  expect(wrong.slice(0, 30), `CHAOS_SEED=${SEED}, batch ${batch}: ${wrong.length} things are wrong`).toEqual([]);
}

/** How many calls there were, and what their clients were told. */
function outcomes({ provider }: World, calls: readonly Call[]): string {
  const dispatched = calls.filter(({ model }) => provider.seen.has(model)).length;
  const told = Map.groupBy(calls, ({ outcome }) =>
    outcome.kind === 'answered' ? `${outcome.status} ${outcome.code ?? 'ok'}` : outcome.kind,
  );
  const counts = [...told].map(([what, some]) => `${what} ${some.length}`);
  return `${calls.length} calls, ${dispatched} dispatched: ${counts.sort().join(', ')}`;
}

/** What a batch may draw: what it then has to answer for depends on it. */
interface Theme {
  readonly losesData: boolean;
  readonly killsGateways: boolean;
}

const THEMES: readonly Theme[] = [
  { losesData: false, killsGateways: true },
  { losesData: true, killsGateways: false },
  { losesData: false, killsGateways: true },
  { losesData: true, killsGateways: true },
];

/** One fault, or two of different components at once. */
function draw(random: Random, theme: Theme): readonly Fault[] {
  const choice = FAULTS.filter(
    ({ name, losesData, killsGateways }) =>
      (!losesData || theme.losesData) && (!killsGateways || theme.killsGateways) && name.includes(ONLY),
  );
  const first = random.weighted(choice);
  const others = choice.filter(({ component }) => component !== first.component);
  return others.length > 0 && random.chance(0.3) ? [first, random.weighted(others)] : [first];
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}

/** A long run tells how it goes; of a short one this is shown only when it fails. */
function say(line: string): void {
  if (ROUNDS > 8) process.stderr.write(`${line}\n`);
  // oxlint-disable-next-line no-console
  else console.log(line);
}
