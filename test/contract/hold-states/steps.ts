import type { SettleResult } from '#/ports/limit-counters.ts';
import { openHold } from '../limit-counters-world.ts';
import type { CallState, Process, Restoring, Task } from './process.ts';
import type { World } from './world.ts';

/** A step that may come next; a fault uses up one of those allowed. */
export interface Step {
  readonly name: string;
  readonly fault?: true;
  readonly run: () => Promise<void>;
}

/** Everything that can come next. */
export function stepsOf(world: World): readonly Step[] {
  const steps: Step[] = [];
  const step = (name: string, run: () => Promise<void>): void => void steps.push({ name, run });
  const fault = (name: string, run: () => Promise<void>): void => {
    if (world.faults < world.setting.faults) steps.push({ name, fault: true, run });
  };
  for (const one of world.processes.values()) {
    if (one.alive) {
      for (const [callId, state] of one.calls) callSteps(world, one, callId, state, step, fault);
      for (const callId of one.orphans)
        if (!world.restoring) step(`${one.name} releases ${callId}`, () => world.release(one, callId));
      for (const [callId, task] of one.tasks) taskSteps(world, one, callId, task, step, fault);
      if (one.wantsRestore && !world.restoring) step(`${one.name} pauses`, () => world.pause(one));
      if (world.stray(one).length > 0) step(`${one.name} sweeps`, () => world.sweep(one));
      if (world.unknownOwn(one).length > 0) step(`${one.name} sweeps its own`, async () => world.sweepOwn(one));
      fault(`${one.name} dies`, async () => world.die(one));
    }
    if (one.leased && !one.alive) step(`the lease of ${one.name} ends`, () => world.expire(one));
    if (one.leased && one.alive) fault(`the lease of ${one.name} ends while it lives`, () => world.expire(one));
  }
  if (world.restoring) restoreSteps(world, world.restoring, step);
  for (const [key, message] of world.network) step(`${key} arrives`, () => world.deliver(key, message));
  if (world.setting.loses && !world.lost && !world.restoring)
    fault('the store forgets', async () => {
      await world.store.lose();
      world.lost = true;
    });
  return steps;
}

function callSteps(
  world: World,
  one: Process,
  callId: string,
  state: CallState,
  step: (name: string, run: () => Promise<void>) => void,
  fault: (name: string, run: () => Promise<void>) => void,
): void {
  const name = `${one.name} ${callId}`;
  const set = (next: CallState): void => void one.calls.set(callId, next);
  switch (state) {
    case 'new':
      if (world.restoring || one.wantsRestore) return;
      step(`${name} holds`, () => world.hold(one, callId, 'answered'));
      fault(`${name} holds, its answer is lost`, () => world.hold(one, callId, 'answer lost'));
      fault(`${name} holds, late`, async () => {
        world.send({ kind: 'hold', callId, from: one.name });
        world.unavailable(one, callId);
      });
      return;
    case 'held':
      if (one.leased && !one.contested.has(callId) && world.holdsAll(one, callId)) {
        step(`${name} gives back`, () => world.giveBack(one, callId, true));
        fault(`${name} gives back, late or never`, async () => {
          world.send({ kind: 'give-back', callId, from: one.name });
          await world.giveBack(one, callId, false);
        });
      }
      // A process that was silent for long asks before it writes; that it was may escape it.
      if (!one.leased) step(`${name} asks the fence`, () => world.askFence(one, callId));
      if (one.leased) step(`${name} seals`, async () => world.seal(one, callId));
      else fault(`${name} seals without asking`, async () => world.seal(one, callId));
      fault(`${name} seals, late`, async () => {
        world.send({ kind: 'row', callId, from: one.name });
        set('row sent');
      });
      return;
    case 'cleared':
      step(`${name} seals, cleared`, async () => world.seal(one, callId));
      return;
    case 'sealed':
      if (world.restoring) return;
      step(`${name} settles`, () => world.settleOwn(one, callId, 'answered'));
      fault(`${name} settles, its answer is lost`, () => world.settleOwn(one, callId, 'answer lost'));
      fault(`${name} settles, and once more later`, async () => {
        world.send({ kind: 'settle', callId, from: one.name });
        await world.settleOwn(one, callId, 'answered');
      });
      return;
    case 'reply lost':
      step(`${name} seals the refusal`, async () => {
        world.append(openHold(callId), 0n);
        set('refusal sealed');
      });
      return;
    case 'row sent':
    case 'refused':
    case 'refusal sealed':
    case 'done':
  }
}

function taskSteps(
  world: World,
  one: Process,
  callId: string,
  task: Task,
  step: (name: string, run: () => Promise<void>) => void,
  fault: (name: string, run: () => Promise<void>) => void,
): void {
  const name = `${one.name} takes over ${callId}:`;
  const row = world.ledger.rows.get(callId);
  switch (task.step) {
    case 'look':
      step(`${name} looks`, async () => {
        if (row) one.tasks.set(callId, { step: 'settle', cost: row.cost });
        // A call of its own that is still going on seals itself.
        else if (one.open.has(callId)) one.tasks.delete(callId);
        else task.step = 'abandon';
      });
      return;
    case 'abandon':
      step(`${name} abandons`, async () => {
        world.append(task.hold, task.hold.amount);
        task.step = 'look again';
      });
      return;
    case 'look again':
      step(`${name} looks again`, async () => void one.tasks.set(callId, { step: 'settle', cost: row!.cost }));
      return;
    case 'settle': {
      if (world.restoring) return;
      const settle = async (): Promise<SettleResult> => world.settle(one, callId, task.cost);
      step(`${name} settles`, async () => {
        if ((await settle()) === 'unknown') one.wantsRestore = true;
        one.tasks.delete(callId);
      });
      fault(`${name} settles, its answer is lost`, async () => void (await settle()));
    }
  }
}

function restoreSteps(
  world: World,
  restoring: Restoring,
  step: (name: string, run: () => Promise<void>) => void,
): void {
  const { by } = restoring;
  if (!restoring.totals) {
    step(`${by} sums`, async () => {
      restoring.totals = world.ledger.totals(restoring.open);
    });
    return;
  }
  const { totals } = restoring;
  step(`${by} resumes`, async () => {
    restoring.resume(totals);
    await restoring.over;
    world.restoring = undefined;
  });
}
