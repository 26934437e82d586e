import type { HoldState } from './hold-state.ts';
import type { CountersView, OpenHold, SettleResult, SpendTotals } from '#/ports/limit-counters.ts';
import type { AllCounters, Store } from '../limit-counters-subjects.ts';
import { openHold, ORGANIZATION, request, TestLedger } from '../limit-counters-world.ts';
import { newProcess, type Message, type Process, type Restoring } from './process.ts';

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
export const CAP = { organizationCap: { amount: 100n, period: 'total' } } as const;
const LEASE_MS = 2;
const PUT_BACK_MS = 5000;

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
  readonly setting: Setting;
  readonly store: Store;
  readonly counters: ReadonlyMap<string, AllCounters>;
  readonly processes = new Map<string, Process>();
  readonly network = new Map<string, Message>();
  restoring: Restoring | undefined;
  readonly states = new Map<string, HoldState>();
  view: CountersView | undefined;

  private constructor(setting: Setting, store: Store, counters: ReadonlyMap<string, AllCounters>) {
    this.setting = setting;
    this.store = store;
    this.counters = counters;
    for (const name of ['p1', 'p2']) this.processes.set(name, newProcess(name));
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

  async hold(one: Process, callId: string, answer: 'answered' | 'answer lost'): Promise<void> {
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

  unavailable(one: Process, callId: string): void {
    one.calls.set(callId, 'reply lost');
    one.orphans.add(callId);
  }

  async askFence(one: Process, callId: string): Promise<void> {
    const owner = this.heldOf(callId)?.owner;
    const ours = owner === undefined ? !this.ledger.rows.has(callId) : owner === one.name;
    one.calls.set(callId, ours ? 'cleared' : 'done');
    if (!ours) one.open.delete(callId);
  }

  seal(one: Process, callId: string): void {
    this.append(one.open.get(callId)!, COST);
    one.calls.set(callId, 'sealed');
  }

  /** The first row of a call counts; another is kept beside it. */
  append(hold: OpenHold, cost: bigint): void {
    this.ledger.append(hold, cost);
  }

  /** The call is over: what it did not use is given back, its row still to come. `told`: whether the store hears of it. */
  async giveBack(one: Process, callId: string, told: boolean): Promise<void> {
    one.open.set(callId, { ...one.open.get(callId)!, amount: COST });
    if (told) await this.settle(one, callId, COST, true);
  }

  async settle(one: Process, callId: string, cost: bigint, stays = false): Promise<SettleResult> {
    const settlement = { callId, organization: ORGANIZATION, cost, tokens: 0, ...(stays && { stays: true as const }) };
    const [result] = await this.countersOf(one).settle([settlement], one.name);
    return result!;
  }

  async settleOwn(one: Process, callId: string, answer: 'answered' | 'answer lost'): Promise<void> {
    const cost = one.contested.has(callId) ? this.ledger.rows.get(callId)!.cost : COST;
    const result = await this.settle(one, callId, cost);
    if (result === 'busy') throw new Error('settled during a pause');
    if (answer === 'answer lost') return;
    one.calls.set(callId, 'done');
    one.open.delete(callId);
    if (result === 'unknown') one.wantsRestore = true;
  }

  async release(one: Process, callId: string): Promise<void> {
    const result = await this.settle(one, callId, 0n);
    const late = [...this.network.values()].some((message) => message.kind === 'hold' && message.callId === callId);
    if (result === 'settled' || !late) one.orphans.delete(callId);
  }

  async pause(one: Process): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<SpendTotals>();
    const gathered = Promise.withResolvers<readonly OpenHold[]>();
    const over = this.countersOf(one)
      .restore(
        ORGANIZATION,
        [...one.open.values()],
        (open) => {
          gathered.resolve(open);
          return promise;
        },
        'nothing',
      )
      .catch(() => undefined);
    const open = await Promise.race([gathered.promise, over]);
    if (!open) {
      // After lost data nobody restores before all had the time to put back.
      this.store.advance(PUT_BACK_MS);
      return this.pause(one);
    }
    this.restoring = {
      by: one.name,
      over,
      open,
      totals: undefined,
      resume: resolve,
      giveUp: reject,
    };
    one.wantsRestore = false;
  }

  stray(one: Process): readonly OpenHold[] {
    return this.view!.holds.filter(({ owner }) => owner !== one.name && this.processes.get(owner)?.leased === false);
  }

  async sweep(one: Process): Promise<void> {
    one.leased = true;
    // Beyond two faults: what is told of a call's end does not arrive after it has changed hands, and hands again.
    if (this.setting.faults > 2)
      for (const [key, { kind }] of this.network)
        if (kind === 'settle' || kind === 'give-back') this.network.delete(key);
    for (let beat = 0; beat <= LEASE_MS; beat++) {
      this.store.advance(1);
      for (const other of this.processes.values())
        if (other.leased) await this.countersOf(other).takeOver([], other.name, LEASE_MS);
    }
    const { holds } = await this.countersOf(one).takeOver([ORGANIZATION], one.name, LEASE_MS);
    for (const hold of holds) {
      one.contested.add(hold.callId);
      one.orphans.delete(hold.callId);
      one.tasks.set(hold.callId, { hold, step: 'look' });
    }
  }

  unknownOwn(one: Process): readonly OpenHold[] {
    return this.view!.holds.filter(
      ({ owner, callId }) =>
        owner === one.name && !one.open.has(callId) && !one.tasks.has(callId) && !one.orphans.has(callId),
    );
  }

  sweepOwn(one: Process): void {
    for (const hold of this.unknownOwn(one)) one.tasks.set(hold.callId, { hold, step: 'look' });
  }

  die(one: Process): void {
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

  async expire(one: Process): Promise<void> {
    one.leased = false;
    this.store.advance(LEASE_MS + 1);
  }

  send(message: Message): void {
    this.network.set(`the ${message.kind} of ${message.callId}`, message);
  }

  async deliver(key: string, { kind, callId, from }: Message): Promise<void> {
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
    else await this.settle(sender, callId, COST, kind === 'give-back');
  }

  /** Whether a call still holds its worst case, as its process knows it. */
  holdsAll(one: Process, callId: string): boolean {
    return one.open.get(callId)?.amount === HELD;
  }

  /** Calls that were dispatched and have no row: their holds were forgotten, and so was the process that knew of them. */
  get forgotten(): readonly string[] {
    return [...this.dispatched].filter((callId) => !this.ledger.rows.has(callId));
  }

  /** Whether anybody has died. */
  get died(): boolean {
    return [...this.processes.values()].some((one) => !one.alive);
  }

  /** What the counters say that the organization has spent; undefined where they know nothing of it. */
  get counter(): bigint | undefined {
    return this.view!.spend.find(({ scope, period }) => scope === 'organization' && period === 'total')?.amount;
  }

  /** How far the counters are from ledger and holds. */
  drift(): bigint {
    const { counter } = this;
    return counter === undefined ? 0n : counter - this.ledger.expectedOf(this.view!, 'organization', 'total');
  }

  /** What is done about drift by hand. */
  async repair(): Promise<void> {
    await this.store.counters.restore(ORGANIZATION, [], async (open) => this.ledger.totals(open));
    this.view = await this.store.counters.view(ORGANIZATION);
  }

  heldOf(callId: string): OpenHold | undefined {
    return this.view!.holds.find((hold) => hold.callId === callId);
  }

  get open(): readonly OpenHold[] {
    return this.view!.holds;
  }

  of(name: string): Process {
    return this.processes.get(name)!;
  }

  countersOf({ name }: Process): AllCounters {
    return this.counters.get(name)!;
  }

  requestOf({ name }: Process, callId: string) {
    return request(callId, { ...CAP, owner: name, amount: HELD });
  }
}
