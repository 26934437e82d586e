import { ORGANIZATION } from '../limit-counters-world.ts';
import { checkCalls, checkWorld } from './invariants.ts';
import { newProcess } from './process.ts';
import { stepsOf, type Step } from './steps.ts';
import type { World } from './world.ts';

/** Takes a step and looks at what came of it. */
export async function take(world: World, step: Step): Promise<void> {
  await go(world, step);
  checkWorld(world);
}

/** Takes a step of a way that was looked at when it was first taken. */
export async function takeAgain(world: World, step: Step): Promise<void> {
  await go(world, step);
  checkCalls(world);
}

async function go(world: World, { run, fault }: Step): Promise<void> {
  if (fault) world.faults++;
  await run();
  world.view = await world.store.counters.view(ORGANIZATION);
}

/** Everybody who lives goes on, nothing more goes wrong, and a process that comes anew takes over the rest. */
export async function complete(world: World): Promise<void> {
  world.network.clear();
  const last = newProcess('p9');
  world.processes.set('p9', last);
  // A row that did not arrive is sent again.
  for (const one of world.processes.values())
    for (const [callId, state] of one.calls) if (state === 'row sent') one.calls.set(callId, 'held');
  for (let round = 0; round < 200; round++) {
    const [next] = stepsOf(world).filter(({ fault, name }) => !fault && !name.includes('while it lives'));
    if (!next) return;
    await take(world, next);
  }
  throw new Error(
    `it does not come to an end: ${stepsOf(world)
      .map(({ name }) => name)
      .join('; ')}`,
  );
}
