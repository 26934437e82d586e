import { holdState, mayFollow, type HoldState } from '#meter/hold-state.ts';
import type { SealedRow } from '#ports/ledger.ts';
import type { CountersView, OpenHold, SettleResult, SpendTotals } from '#ports/limit-counters.ts';
import type { AllCounters, Store } from '../limit-counters-subjects.ts';
import { openHold, ORGANIZATION, request, spendOf, TestLedger } from '../limit-counters-world.ts';

/** What a world is made of. */
export interface Setting {
  /** Call -> the process that serves it. */
  readonly calls: Readonly<Record<string, string>>;
  /** Things that go wrong, at most, on one way: crashes, lost and late messages, leases that end, data that is lost. */
  readonly faults: number;
  readonly loses: boolean;
}

const HELD = 60n;
const COST = 30n;
/** One call fits beside a settled one, not beside a held one. */
const CAP = { organizationCap: { amount: 100n, period: 'total' } } as const;
const LEASE_MS = 2;

type CallState =
  | 'new'
  | 'held'
  | 'cleared' // by the fence
  | 'row sent'
  | 'sealed'
  | 'refused'
  | 'reply lost' // the client was told 503
  | 'refusal sealed'
  | 'done';

/** What a process that took a hold over still has to do. */
type Task = { readonly hold: OpenHold; step: 'look' | 'abandon' | 'look again' } | { step: 'settle'; cost: bigint };

interface Process {
  readonly name: string;
  alive: boolean;
  /** Its lease holds. */
  leased: boolean;
  calls: Map<string, CallState>;
  open: Map<string, OpenHold>;
  tasks: Map<string, Task>;
  /** Holds that were placed, perhaps, although their caller was told that they were not. */
  orphans: Set<string>;
  /** Calls whose holds were another's for a while: their row may be too. */
  contested: Set<string>;
  wantsRestore: boolean;
}

type Message = { readonly kind: 'hold' | 'settle' | 'row'; readonly callId: string; readonly from: string };

interface Restoring {
  readonly by: string;
  readonly over: Promise<unknown>;
  readonly open: readonly OpenHold[];
  totals: SpendTotals | undefined;
  readonly resume: (totals: SpendTotals) => void;
  readonly giveUp: (error: Error) => void;
}

/** A step that may come next; a fault uses up one of those allowed. */
export interface Step {
  readonly name: string;
  readonly fault?: true;
  readonly run: () => Promise<void>;
}

/**
 * Gateway processes, their counters, their ledger and the network between them, taking one step at a time. The counters
 * are the real ones; processes do what meter, ledger writer, settler, sweeper and restorer do, a verb a step.
 */
export class World {
  readonly ledger = new TestLedger();
  faults = 0;
  lost = false;
  /** Calls that were let through: each must have a row. */
  readonly dispatched = new Set<string>();
  private readonly setting: Setting;
  private readonly store: Store;
  private readonly counters: ReadonlyMap<string, AllCounters>;
  private readonly processes = new Map<string, Process>();
  private readonly network = new Map<string, Message>();
  private restoring: Restoring | undefined;
  private readonly states = new Map<string, HoldState>();
  private view: CountersView | undefined;

  private constructor(setting: Setting, store: Store, counters: ReadonlyMap<string, AllCounters>) {
    this.setting = setting;
    this.store = store;
    this.counters = counters;
    for (const name of ['p1', 'p2']) this.processes.set(name, this.process(name));
    for (const [callId, name] of Object.entries(setting.calls)) this.of(name).calls.set(callId, 'new');
  }

  static async open(setting: Setting, store: Store): Promise<World> {
    const counters = new Map([
      ['p1', store.counters],
      ['p2', await store.another()],
      ['p9', await store.another()],
    ]);
    const world = new World(setting, store, counters);
    await store.counters.restore(ORGANIZATION, [], async () => world.ledger.totals([]));
    world.view = await store.counters.view(ORGANIZATION);
    return world;
  }

  /** Everything that decides what can come next, as text: worlds of the same text are one. */
  key(): string {
    const processes = [...this.processes.values()].map((one) => [
      one.alive,
      one.leased,
      [...one.calls],
      [...one.open.keys()].toSorted(),
      [...one.tasks].map(([callId, task]) => [callId, task.step, 'cost' in task ? String(task.cost) : '']).toSorted(),
      [...one.orphans].toSorted(),
      [...one.contested].toSorted(),
      one.wantsRestore,
    ]);
    const { holds, spend } = this.view!;
    const restoring = this.restoring && [
      this.restoring.by,
      this.restoring.open.map((hold) => hold.callId),
      this.restoring.totals?.organization.total.toString(),
    ];
    return JSON.stringify([
      processes,
      [...this.network.keys()].toSorted(),
      holds.map((hold) => [hold.callId, hold.owner]).toSorted(),
      spend.map(({ scope, period, amount }) => `${scope} ${period} ${amount}`).toSorted(),
      [...this.ledger.rows].map(([callId, row]) => `${callId} ${row.cost}`).toSorted(),
      restoring,
      this.faults,
      this.lost,
    ]);
  }

  steps(): readonly Step[] {
    const steps: Step[] = [];
    const step = (name: string, run: () => Promise<void>): void => void steps.push({ name, run });
    const fault = (name: string, run: () => Promise<void>): void => {
      if (this.faults < this.setting.faults) steps.push({ name, fault: true, run });
    };
    for (const one of this.processes.values()) {
      if (one.alive) {
        for (const [callId, state] of one.calls) this.callSteps(one, callId, state, step, fault);
        for (const callId of one.orphans)
          if (!this.restoring) step(`${one.name} releases ${callId}`, () => this.release(one, callId));
        for (const [callId, task] of one.tasks) this.taskSteps(one, callId, task, step, fault);
        if (one.wantsRestore && !this.restoring) step(`${one.name} pauses`, () => this.pause(one));
        if (this.stray(one).length > 0) step(`${one.name} sweeps`, () => this.sweep(one));
        if (this.unknownOwn(one).length > 0) step(`${one.name} sweeps its own`, async () => this.sweepOwn(one));
        fault(`${one.name} dies`, async () => this.die(one));
      }
      if (one.leased && !one.alive) step(`the lease of ${one.name} ends`, () => this.expire(one));
      if (one.leased && one.alive) fault(`the lease of ${one.name} ends while it lives`, () => this.expire(one));
    }
    if (this.restoring) this.restoreSteps(this.restoring, step);
    for (const [key, message] of this.network) step(`${key} arrives`, () => this.deliver(key, message));
    if (this.setting.loses && !this.lost && !this.restoring)
      fault('the store forgets', async () => {
        await this.store.lose();
        this.lost = true;
      });
    return steps;
  }

  /** Takes a step and looks at what came of it. */
  async take({ run, fault }: Step): Promise<void> {
    if (fault) this.faults++;
    await run();
    this.view = await this.store.counters.view(ORGANIZATION);
    this.check();
  }

  private callSteps(
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
        if (this.restoring || one.wantsRestore) return;
        step(`${name} holds`, () => this.hold(one, callId, 'answered'));
        fault(`${name} holds, its answer is lost`, () => this.hold(one, callId, 'answer lost'));
        fault(`${name} holds, late`, async () => {
          this.send({ kind: 'hold', callId, from: one.name });
          this.unavailable(one, callId);
        });
        return;
      case 'held':
        // A process that was silent for long asks before it writes; that it was may escape it.
        if (!one.leased) step(`${name} asks the fence`, () => this.askFence(one, callId));
        if (one.leased) step(`${name} seals`, async () => this.seal(one, callId));
        else fault(`${name} seals without asking`, async () => this.seal(one, callId));
        fault(`${name} seals, late`, async () => {
          this.send({ kind: 'row', callId, from: one.name });
          set('row sent');
        });
        return;
      case 'cleared':
        step(`${name} seals, cleared`, async () => this.seal(one, callId));
        return;
      case 'sealed':
        if (this.restoring) return;
        step(`${name} settles`, () => this.settleOwn(one, callId, 'answered'));
        fault(`${name} settles, its answer is lost`, () => this.settleOwn(one, callId, 'answer lost'));
        fault(`${name} settles, and once more later`, async () => {
          this.send({ kind: 'settle', callId, from: one.name });
          await this.settleOwn(one, callId, 'answered');
        });
        return;
      case 'reply lost':
        step(`${name} seals the refusal`, async () => {
          this.append(openHold(callId), 0n);
          set('refusal sealed');
        });
        return;
      case 'row sent':
      case 'refused':
      case 'refusal sealed':
      case 'done':
    }
  }

  private taskSteps(
    one: Process,
    callId: string,
    task: Task,
    step: (name: string, run: () => Promise<void>) => void,
    fault: (name: string, run: () => Promise<void>) => void,
  ): void {
    const name = `${one.name} takes over ${callId}:`;
    const row = this.ledger.rows.get(callId);
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
          this.append(task.hold, task.hold.amount);
          task.step = 'look again';
        });
        return;
      case 'look again':
        step(`${name} looks again`, async () => void one.tasks.set(callId, { step: 'settle', cost: row!.cost }));
        return;
      case 'settle': {
        if (this.restoring) return;
        const settle = async (): Promise<SettleResult> => this.settle(one, callId, task.cost);
        step(`${name} settles`, async () => {
          if ((await settle()) === 'unknown') one.wantsRestore = true;
          one.tasks.delete(callId);
        });
        fault(`${name} settles, its answer is lost`, async () => void (await settle()));
      }
    }
  }

  private restoreSteps(restoring: Restoring, step: (name: string, run: () => Promise<void>) => void): void {
    const { by } = restoring;
    if (!restoring.totals) {
      step(`${by} sums`, async () => {
        restoring.totals = this.ledger.totals(restoring.open);
      });
      return;
    }
    const { totals } = restoring;
    step(`${by} resumes`, async () => {
      restoring.resume(totals);
      await restoring.over;
      this.restoring = undefined;
    });
  }

  private async hold(one: Process, callId: string, answer: 'answered' | 'answer lost'): Promise<void> {
    const decision = await this.countersOf(one).hold(this.requestOf(one, callId));
    if (decision.kind === 'busy') throw new Error('held during a pause');
    if (answer === 'answer lost') return this.unavailable(one, callId);
    if (decision.kind === 'cold') one.wantsRestore = true;
    else if (decision.kind === 'refused') one.calls.set(callId, 'refused');
    else {
      one.calls.set(callId, 'held');
      one.open.set(callId, openHold(callId, this.requestOf(one, callId)));
      this.dispatched.add(callId);
    }
  }

  private unavailable(one: Process, callId: string): void {
    one.calls.set(callId, 'reply lost');
    one.orphans.add(callId);
  }

  private async askFence(one: Process, callId: string): Promise<void> {
    const owner = this.view!.holds.find((hold) => hold.callId === callId)?.owner;
    const ours = owner === undefined ? !this.ledger.rows.has(callId) : owner === one.name;
    one.calls.set(callId, ours ? 'cleared' : 'done');
    if (!ours) one.open.delete(callId);
  }

  private seal(one: Process, callId: string): void {
    this.append(one.open.get(callId)!, COST);
    one.calls.set(callId, 'sealed');
  }

  /** The first row of a call counts; another is kept beside it. */
  private append(hold: OpenHold, cost: bigint): void {
    this.ledger.append(hold, cost);
  }

  private async settle(one: Process, callId: string, cost: bigint): Promise<SettleResult> {
    const settlement = { callId, organization: ORGANIZATION, cost, tokens: 0 };
    const [result] = await this.countersOf(one).settle([settlement], one.name);
    return result!;
  }

  private async settleOwn(one: Process, callId: string, answer: 'answered' | 'answer lost'): Promise<void> {
    const cost = one.contested.has(callId) ? this.ledger.rows.get(callId)!.cost : COST;
    const result = await this.settle(one, callId, cost);
    if (result === 'busy') throw new Error('settled during a pause');
    if (answer === 'answer lost') return;
    one.calls.set(callId, 'done');
    one.open.delete(callId);
    if (result === 'unknown') one.wantsRestore = true;
  }

  private async release(one: Process, callId: string): Promise<void> {
    const result = await this.settle(one, callId, 0n);
    const late = [...this.network.values()].some((message) => message.kind === 'hold' && message.callId === callId);
    if (result === 'settled' || !late) one.orphans.delete(callId);
  }

  private async pause(one: Process): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<SpendTotals>();
    const gathered = Promise.withResolvers<readonly OpenHold[]>();
    const over = this.countersOf(one)
      .restore(ORGANIZATION, [...one.open.values()], (open) => {
        gathered.resolve(open);
        return promise;
      })
      .catch(() => undefined);
    this.restoring = {
      by: one.name,
      over,
      open: await gathered.promise,
      totals: undefined,
      resume: resolve,
      giveUp: reject,
    };
    one.wantsRestore = false;
  }

  private stray(one: Process): readonly OpenHold[] {
    return this.view!.holds.filter(({ owner }) => owner !== one.name && this.processes.get(owner)?.leased === false);
  }

  private async sweep(one: Process): Promise<void> {
    one.leased = true;
    // Beyond two faults: a copy of a settlement does not arrive after its call has changed hands, and hands again.
    if (this.setting.faults > 2)
      for (const [key, { kind }] of this.network) if (kind === 'settle') this.network.delete(key);
    for (let beat = 0; beat <= LEASE_MS; beat++) {
      this.store.advance(1);
      for (const other of this.processes.values())
        if (other.leased) await this.countersOf(other).takeOver([], other.name, LEASE_MS);
    }
    for (const hold of await this.countersOf(one).takeOver([ORGANIZATION], one.name, LEASE_MS)) {
      one.contested.add(hold.callId);
      one.orphans.delete(hold.callId);
      one.tasks.set(hold.callId, { hold, step: 'look' });
    }
  }

  private unknownOwn(one: Process): readonly OpenHold[] {
    return this.view!.holds.filter(
      ({ owner, callId }) =>
        owner === one.name && !one.open.has(callId) && !one.tasks.has(callId) && !one.orphans.has(callId),
    );
  }

  private sweepOwn(one: Process): void {
    for (const hold of this.unknownOwn(one)) one.tasks.set(hold.callId, { hold, step: 'look' });
  }

  private die(one: Process): void {
    one.alive = false;
    one.calls.clear();
    one.open.clear();
    one.tasks.clear();
    one.orphans.clear();
    one.contested.clear();
    one.wantsRestore = false;
    // A pause ends by itself.
    if (this.restoring?.by === one.name) {
      this.restoring.giveUp(new Error('died'));
      this.restoring = undefined;
    }
  }

  private async expire(one: Process): Promise<void> {
    one.leased = false;
    this.store.advance(LEASE_MS + 1);
  }

  private send(message: Message): void {
    this.network.set(`the ${message.kind} of ${message.callId}`, message);
  }

  private async deliver(key: string, { kind, callId, from }: Message): Promise<void> {
    const sender = this.of(from);
    if (kind === 'row') {
      this.network.delete(key);
      this.append(openHold(callId), COST);
      if (sender.calls.get(callId) === 'row sent') sender.calls.set(callId, 'sealed');
      return;
    }
    // What comes during a pause is answered that it has to be asked again, and nobody listens any more.
    this.network.delete(key);
    if (kind === 'hold') await this.countersOf(sender).hold(this.requestOf(sender, callId));
    else await this.settle(sender, callId, COST);
  }

  /** Everybody who lives goes on, nothing more goes wrong, and a process that comes anew takes over the rest. */
  async complete(): Promise<void> {
    this.network.clear();
    const last = this.process('p9');
    this.processes.set('p9', last);
    // A row that did not arrive is sent again.
    for (const one of this.processes.values())
      for (const [callId, state] of one.calls) if (state === 'row sent') one.calls.set(callId, 'held');
    for (let round = 0; round < 200; round++) {
      const [next] = this.steps().filter(({ fault, name }) => !fault && !name.includes('while it lives'));
      if (!next) return;
      await this.take(next);
    }
    throw new Error(
      `it does not come to an end: ${this.steps()
        .map(({ name }) => name)
        .join('; ')}`,
    );
  }

  /** Calls that were dispatched and have no row: their holds were forgotten, and so was the process that knew of them. */
  get forgotten(): readonly string[] {
    return [...this.dispatched].filter((callId) => !this.ledger.rows.has(callId));
  }

  /** Whether anybody has died. */
  get died(): boolean {
    return [...this.processes.values()].some((one) => !one.alive);
  }

  /** How far the counters are from ledger and holds. */
  drift(): bigint {
    const view = this.view!;
    const counter = spendOf(view)['organization total'];
    const expected = this.ledger.expected(view)['organization total'];
    return counter === undefined || expected === undefined ? 0n : counter - expected;
  }

  /** What the bookkeeper does when it finds drift. */
  async repair(): Promise<void> {
    await this.store.counters.restore(ORGANIZATION, [], async (open) => this.ledger.totals(open));
    this.view = await this.store.counters.view(ORGANIZATION);
  }

  get open(): readonly OpenHold[] {
    return this.view!.holds;
  }

  /** What must hold whatever happens. */
  private check(): void {
    const view = this.view!;
    const held = new Map(view.holds.map((hold) => [hold.callId, hold]));
    for (const callId of Object.keys(this.setting.calls)) {
      const row = this.ledger.rows.get(callId);
      const next = holdState(held.get(callId), row as unknown as SealedRow | undefined);
      const was = this.states.get(callId) ?? 'none';
      if (!mayFollow(was, next)) throw new Error(`${callId} went from ${was} to ${next}`);
      // Money is given back without a row only where nothing was dispatched.
      if (was === 'held' && next === 'none' && !this.lost && this.dispatched.has(callId))
        throw new Error(`the hold of ${callId} was settled before its row`);
      this.states.set(callId, next);
    }
    if (this.lost) return;
    if (this.drift() !== 0n) throw new Error(`the counters are off by ${this.drift()}`);
    const counter = spendOf(view)['organization total'] ?? 0n;
    if (counter > CAP.organizationCap.amount) throw new Error('more is spent than the cap allows');
    let sealed = 0n;
    for (const [callId, { cost }] of this.ledger.rows) if (!held.has(callId)) sealed += cost;
    if (counter < sealed) throw new Error('the counters are below the ledger');
  }

  private process(name: string): Process {
    return {
      name,
      alive: true,
      leased: true,
      calls: new Map(),
      open: new Map(),
      tasks: new Map(),
      orphans: new Set(),
      contested: new Set(),
      wantsRestore: false,
    };
  }

  private of(name: string): Process {
    return this.processes.get(name)!;
  }

  private countersOf({ name }: Process): AllCounters {
    return this.counters.get(name)!;
  }

  private requestOf({ name }: Process, callId: string) {
    return request(callId, { ...CAP, owner: name, amount: HELD });
  }
}
