import { ServerRestarting, type CallContext } from '#/call/call.ts';
import { Stopped, type CallFacts, type StatedFacts } from '#/call/facts.ts';
import { asGatewayError, restarting, type GatewayError } from '#/errors/gateway-error.ts';
import type { OpenHold, Settlement } from '#/ports/limit-counters.ts';
import type { ByName } from '#/runtime/passing.ts';
import { CallRecord } from '#/seal/call-record.ts';
import type { LedgerWriter } from '#/seal/ledger-writer.ts';
import type { AuditRow, Step as RowStep } from '#/seal/row.ts';
import type { Family } from '#/wire/document/document.ts';
import type { PipelineEvent } from './pipeline-event.ts';

/** What a step gives to those after it, by name, and what it states of the call. */
export type Stated<Results extends object> = Results & {
  readonly facts?: CallFacts;
  /** Let go of when the call is over. */
  readonly release?: Disposable | undefined;
};

/** What every call begins with. */
export interface CallStart<Context extends CallContext = CallContext> {
  readonly request: Context;
  /** Whether a call that failed goes on another time, maybe elsewhere: then nothing is sealed now. Absent: none does. */
  readonly goesOn?: ((error: GatewayError) => boolean) | undefined;
}

/**
 * A step: takes what the steps before it gave, and what it works with. A promise only where something is awaited, which
 * each call would pay for. Throws a `GatewayError` to refuse, in a `Stopped` where it has something to state.
 */
type Step<Work, Parts, Results extends object> = (
  work: Work,
  parts: Parts,
  stated: StatedFacts,
) => Stated<Results> | Promise<Stated<Results>>;

/** The steps of a kind of call, in their order. */
export class Steps<Parts, Start extends CallStart, Work extends object = Start> {
  readonly list: { readonly at: RowStep; readonly run: Step<Work, Parts, object>; readonly replaces: boolean }[] = [];

  /** Adds a step. `at`: where the audit row says that a call ended which ends in it. */
  step<Results extends object>(at: RowStep, run: Step<Work, Parts, Results>): Steps<Parts, Start, Work & Results> {
    this.list.push({ at, run, replaces: false });
    return this as unknown as Steps<Parts, Start, Work & Results>;
  }

  /** The same steps behind another one, which makes what they begin with of what a call of another kind begins with. */
  behind<Begin extends CallStart>(at: RowStep, run: Step<Begin, Parts, Start>): Steps<Parts, Begin, Begin & Work> {
    const steps = new Steps<Parts, Begin, Begin & Work>();
    steps.list.push({ at, run, replaces: false });
    for (const one of this.list) steps.list.push(one);
    return steps;
  }

  /** Adds a step that replaces the work: the steps after it get its results only, and all else is dropped. */
  replacingStep<Results extends object>(at: RowStep, run: Step<Work, Parts, Results>): Steps<Parts, Start, Results> {
    this.list.push({ at, run, replaces: true });
    return this as unknown as Steps<Parts, Start, Results>;
  }
}

/** What it takes to seal and settle a call. */
export interface SealParts {
  readonly writer: Pick<LedgerWriter, 'enqueue'>;
  /** Gives back what a call has not used, before its row is durable. */
  readonly giveBack: (settlement: Settlement) => void;
  /** Holds of this process that are not settled yet. */
  readonly open: ByName<OpenHold>;
  readonly onEvent: (event: PipelineEvent) => void;
}

/**
 * Takes a call through its steps. What they state is merged into its record, which is sealed and settled on every way out:
 * an answer, a refusal, a fault, a client that hung up. Rejects with the error for the client. // spec 1.1
 * `family`: what its surface speaks.
 */
export function runCall<Parts extends SealParts, Start extends CallStart, Work extends object>(
  steps: Steps<Parts, Start, Work>,
  family: Family,
  start: Start,
  parts: Parts,
): Promise<Work> {
  // Not an async function: it would hold `start`, and with it the prompt, to the end of the call.
  return new CallRun<Parts, Work>(family, start, parts).through(steps.list);
}

/** One call on its way. */
class CallRun<Parts extends SealParts, Work extends object> {
  readonly #request: CallContext;
  readonly #goesOn: CallStart['goesOn'];
  readonly #parts: Parts;
  readonly #record: CallRecord;
  readonly #held: Disposable[] = [];
  #work: Work;

  constructor(family: Family, start: CallStart, parts: Parts) {
    this.#request = start.request;
    this.#goesOn = start.goesOn;
    this.#parts = parts;
    this.#record = new CallRecord(start.request, family);
    this.#work = { ...start } as unknown as Work;
  }

  async through(list: Steps<Parts, CallStart, Work>['list']): Promise<Work> {
    const record = this.#record;
    let isOver = true;
    try {
      for (const one of list) {
        const going = this.#run(one);
        if (going) await going;
      }
      return this.#work;
    } catch (thrown) {
      const cause = thrown instanceof Stopped ? thrown.cause : thrown;
      if (thrown instanceof Stopped) record.merge(thrown.facts);
      const isStopped = cause === this.#request.signal.reason && cause instanceof ServerRestarting;
      const error = asGatewayError(isStopped ? restarting() : cause);
      record.fail(error);
      isOver = this.#goesOn?.(error) !== true;
      throw error;
    } finally {
      for (const one of this.#held.toReversed()) one[Symbol.dispose]();
      if (isOver) seal(record, this.#parts);
      // Another process has its hold now.
      else this.#parts.open.delete(this.#request.id);
    }
  }

  /** Apart from `through`, which would hold the arguments of the step while it waits. */
  #run({ at, run, replaces }: Steps<Parts, CallStart, Work>['list'][number]): Promise<void> | undefined {
    this.#record.step = at;
    const given = run(this.#work, this.#parts, this.#record.facts);
    if (given instanceof Promise) return given.then((results) => this.#take(results, replaces));
    this.#take(given, replaces);
    return undefined;
  }

  #take(results: Stated<object>, replaces: boolean): void {
    if (results.facts) this.#record.merge(results.facts);
    if (results.release) this.#held.push(results.release);
    if (replaces) this.#work = results as Work;
    else Object.assign(this.#work, results);
  }
}

/** Seals a request that was refused before it could be read. */
export function sealRefusal(request: CallContext, family: Family, error: GatewayError, parts: SealParts): void {
  const record = new CallRecord(request, family);
  record.fail(error);
  seal(record, parts);
}

function seal(record: CallRecord, { writer, giveBack, onEvent }: SealParts): void {
  const draft = record.draft();
  if (draft.settlement) giveBack(draft.settlement);
  writer.enqueue(draft);
  tellSealed(draft.row, onEvent);
  const { shadow } = record.facts;
  if (shadow.length > 0)
    for (const field of new Set(shadow.map((one) => one.field))) onEvent({ kind: 'shadow.differed', field });
}

/** Reports the facts of a sealed row that are counted. */
export function tellSealed(
  row: Pick<AuditRow, 'outcome' | 'code' | 'usage_source' | 'provider' | 'call_id'>,
  onEvent: SealParts['onEvent'],
): void {
  const { outcome, code, usage_source: source, provider, call_id: callId } = row;
  onEvent({ kind: 'call.sealed', outcome, code });
  if (source === 'implausible') onEvent({ kind: 'usage.implausible', provider: provider ?? '', callId });
}
