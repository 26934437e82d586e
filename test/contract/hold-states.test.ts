import { describe, expect, inject, test } from 'vitest';
import { complete, take, takeAgain } from './hold-states/course.ts';
import { keyOf } from './hold-states/invariants.ts';
import { stepsOf } from './hold-states/steps.ts';
import { World, type Setting } from './hold-states/world.ts';
import { memory, redis, type Subject } from './limit-counters-subjects.ts';

/**
 * Every order in which two calls on two gateways can go on, with whatever can go wrong between any two steps, breadth
 * first. A way is told by the names of its steps, and walked again from its beginning: the counters are the real ones,
 * and have no way back.
 */

type Way = readonly string[];

async function walk(
  setting: Setting,
  subject: Subject,
  way: Way,
  visit: (world: World) => Promise<void>,
): Promise<void> {
  const store = await subject.open();
  try {
    const world = await World.open(setting, store);
    for (const [at, name] of way.entries()) {
      const step = stepsOf(world).find((one) => one.name === name);
      if (!step) throw new Error(`there is no step "${name}" after ${way.join('; ')}`);
      await (at < way.length - 1 ? takeAgain : take)(world, step);
    }
    await visit(world);
  } catch (error) {
    throw new Error(`after ${way.join('; ')}: ${String(error)}`, { cause: error });
  } finally {
    await store.close();
  }
}

/** From here on nothing goes wrong: in the end every dispatched call has one row, nothing is held, the books agree. */
async function comesToAnEnd(world: World): Promise<'agree' | 'repaired'> {
  await complete(world);
  const { open, forgotten, lost, died } = world;
  if (open.length > 0) throw new Error(`still held: ${open.map(({ callId }) => callId).join(', ')}`);
  // Only data that was lost together with a process that knew of it.
  const excused = lost && died;
  if (!excused && forgotten.length > 0) throw new Error(`no row: ${forgotten.join(', ')}`);
  if (world.drift() === 0n) return 'agree';
  if (!excused) throw new Error(`the counters are off by ${world.drift()}`);
  await world.repair();
  if (world.drift() !== 0n) throw new Error('a restore does not bring the counters back');
  return 'repaired';
}

interface Explored {
  states: number;
  steps: number;
  repaired: number;
}

async function explore(setting: Setting, subject: Subject, depth: number): Promise<Explored> {
  const seen = new Set<string>();
  const explored: Explored = { states: 0, steps: 0, repaired: 0 };
  let ways: Way[] = [[]];
  for (let length = 0; ways.length > 0 && length <= depth; length++) {
    const next: Way[] = [];
    for (const way of ways) {
      let names: readonly string[] = [];
      await walk(setting, subject, way, async (world) => {
        explored.steps += way.length;
        const key = keyOf(world);
        if (seen.has(key)) return;
        seen.add(key);
        explored.states++;
        names = stepsOf(world).map(({ name }) => name);
        if ((await comesToAnEnd(world)) === 'repaired') explored.repaired++;
      });
      for (const name of names) next.push([...way, name]);
    }
    ways = next;
  }
  return explored;
}

/** Ways taken at random, to their end. */
async function wander(setting: Setting, subject: Subject, seed: number): Promise<number> {
  const store = await subject.open();
  let random = seed;
  const taken: string[] = [];
  try {
    const world = await World.open(setting, store);
    for (let length = 0; length < 30; length++) {
      const steps = stepsOf(world);
      random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
      const step = steps[random % Math.max(1, steps.length)];
      if (!step) break;
      taken.push(step.name);
      await take(world, step);
    }
    await comesToAnEnd(world);
    return taken.length;
  } catch (error) {
    throw new Error(`after ${taken.join('; ')}: ${String(error)}`, { cause: error });
  } finally {
    await store.close();
  }
}

/** How many states there are when a test is written: one that finds fewer no longer looks everywhere. */
describe('the money of a call', () => {
  test.each<readonly [string, number, Setting]>([
    ['two calls on two gateways, two faults', 11_000, { calls: { a: 'p1', b: 'p2' }, faults: 2, loses: false }],
    ['two calls on one gateway, one fault', 900, { calls: { a: 'p1', b: 'p1' }, faults: 1, loses: false }],
    ['two calls, lost data, one more fault', 16_000, { calls: { a: 'p1', b: 'p2' }, faults: 2, loses: true }],
    ['one call, three faults', 1000, { calls: { a: 'p1' }, faults: 3, loses: false }],
    ['one call, lost data, two more faults', 1000, { calls: { a: 'p1' }, faults: 3, loses: true }],
  ])(
    '%s: all states, in memory',
    async (name, least, setting) => {
      const explored = await explore(setting, memory, Infinity);
      process.stdout.write(`${name}: ${JSON.stringify(explored)}\n`);
      expect(explored.states).toBeGreaterThan(least);
      if (!setting.loses) expect(explored.repaired).toBe(0);
    },
    300_000,
  );

  describe('in Redis', () => {
    const setting: Setting = { calls: { a: 'p1', b: 'p2' }, faults: 3, loses: true };
    const subject = redis('Redis', () => inject('redisUrl'));

    test('the first steps, all of them', async () => {
      expect((await explore(setting, subject, 2)).states).toBeGreaterThan(20);
    });

    test('ways taken at random, to their end', async () => {
      let steps = 0;
      for (let seed = 1; seed <= 60; seed++) steps += await wander(setting, subject, seed * 7919);
      expect(steps).toBeGreaterThan(500);
    });
  });
});
