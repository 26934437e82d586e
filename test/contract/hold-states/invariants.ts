import { holdState, mayFollow } from './hold-state.ts';
import type { SealedRow } from '#/ports/ledger.ts';
import { CAP, type World } from './world.ts';

/** Everything that decides what can come next, as text: worlds of the same text are one. */
export function keyOf(world: World): string {
  const processes = [...world.processes.values()].map((one) => [
    one.alive,
    one.leased,
    [...one.calls],
    [...one.open.values()].map((hold) => `${hold.callId} ${hold.amount}`).toSorted(),
    [...one.tasks]
      .map(([callId, task]) => `${callId} ${task.step} ${'cost' in task ? task.cost : task.hold.amount}`)
      .toSorted(),
    [...one.orphans].toSorted(),
    [...one.contested].toSorted(),
    one.wantsRestore,
  ]);
  const { holds, spend } = world.view!;
  const restoring = world.restoring && [
    world.restoring.by,
    world.restoring.open.map((hold) => hold.callId),
    world.restoring.totals?.organization.total.toString(),
  ];
  return JSON.stringify([
    processes,
    [...world.network.keys()].toSorted(),
    holds.map((hold) => `${hold.callId} ${hold.owner} ${hold.amount}`).toSorted(),
    spend.map(({ scope, period, amount }) => `${scope} ${period} ${amount}`).toSorted(),
    [...world.ledger.rows].map(([callId, row]) => `${callId} ${row.cost}`).toSorted(),
    restoring,
    world.faults,
    world.lost,
  ]);
}

/** What must hold whatever happens: of each call, and of the sums. */
export function checkWorld(world: World): void {
  checkCalls(world);
  if (!world.lost) checkSums(world);
}

/** Notes the state that each call is in, and whether the one before allows it. */
export function checkCalls(world: World): void {
  for (const callId of Object.keys(world.setting.calls)) {
    const row = world.ledger.rows.get(callId);
    const next = holdState(world.heldOf(callId), row as unknown as SealedRow | undefined);
    const was = world.states.get(callId) ?? 'none';
    if (!mayFollow(was, next)) throw new Error(`${callId} went from ${was} to ${next}`);
    // Money is given back without a row only where nothing was dispatched.
    if (was === 'held' && next === 'none' && !world.lost && world.dispatched.has(callId))
      throw new Error(`the hold of ${callId} was settled before its row`);
    world.states.set(callId, next);
  }
}

function checkSums(world: World): void {
  if (world.drift() !== 0n) throw new Error(`the counters are off by ${world.drift()}`);
  const counter = world.counter ?? 0n;
  if (counter > CAP.organizationCap.amount) throw new Error('more is spent than the cap allows');
  let sealed = 0n;
  for (const [callId, { cost }] of world.ledger.rows) if (!world.heldOf(callId)) sealed += cost;
  if (counter < sealed) throw new Error('the counters are below the ledger');
}
