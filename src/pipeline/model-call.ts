import { asGatewayError } from '#/errors/gateway-error.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { Demand } from '#/meter/usage-bounds.ts';
import type { Hold } from '#/meter/meter.ts';
import type { CacheHit, Recalled } from '#/dispatch/cache/answer-cache.ts';
import { restarting, type Dispatch } from '#/dispatch/dispatch.ts';
import { lossHeaders } from '#/dispatch/losses.ts';
import type { Target, Candidate, Candidates } from '#/call/target.ts';
import type { Repeat } from '#/dispatch/cache/hot-cache.ts';
import type { Entry } from '#/seal/call-record.ts';
import { ServerRestarting, type Answer, type Call, type Emit, type Ingress, type Limits } from '#/call/call.ts';

/** The steps of the corridor; each throws a `GatewayError` to refuse. */
export interface Stages {
  /** Opens the audit row: disposing it seals the call and settles its hold, whatever happened. */
  open(ingress: Ingress): Entry;
  /** A call that was answered from the cache a moment ago and comes again, to the byte. */
  known(ingress: Ingress): Repeat | undefined | Promise<Repeat | undefined>;
  /** Reads the body and what it asks for. */
  admit(ingress: Ingress): Call | Promise<Call>;
  inspect(call: Call, entry: Entry): Promise<Inspection>;
  /** Which targets may serve it, in the order they are tried. */
  route(call: Call, inspection: Inspection, entry: Entry): Promise<readonly Target[]>;
  prepare(call: Call, inspection: Inspection, targets: readonly Target[], entry: Entry): Promise<Candidates>;
  /** Looks for the answer in the gateway's own cache. */
  recall(call: Call, plan: Candidates): Promise<Recalled>;
  demand(call: Call, inspection: Inspection, plan: Candidates): Demand;
  meter(call: Call, plan: Candidates, demand: Demand, entry: Entry): Promise<Hold<Candidate>>;
  /** Counts a call that is answered from the cache: nothing is held for it. */
  count(ingress: Ingress): Promise<Limits>;
  dispatch(
    work: Omit<Dispatch, 'learned' | 'endpoints' | 'ownership' | 'retain'>,
    entry: Entry,
    emit: Emit,
  ): Promise<void>;
  /** Remembers a call that was answered from the cache with this body, for `known`. */
  remember(
    call: Call,
    inspection: Inspection,
    hit: CacheHit,
    headers: Repeat['headers'],
    text: string,
    entry: Entry,
  ): void;
  /** Keeps what is to be kept of a call that was answered again. */
  retain(ingress: Ingress, repeat: Repeat): void;
}

/** One call's way: inspect, route, meter, dispatch; sealed and settled at the end of every way out. // spec 1.1 */
export async function serve(ingress: Ingress, stages: Stages, emit: Emit): Promise<void> {
  const known = stages.known(ingress);
  const repeat = known && (await known);
  using entry = stages.open(ingress);
  try {
    if (repeat) {
      await emit(await accepted(ingress, repeat, stages, entry));
      stages.retain(ingress, repeat);
      if (ingress.signal.aborted) throw gone(ingress);
      await emit({ kind: 'head', headers: lossHeaders(repeat.row.losses) });
      await emit({ kind: 'body', text: repeat.text });
      if (!ingress.signal.aborted) entry.served();
      return;
    }
    const admitted = stages.admit(ingress);
    const call = admitted instanceof Promise ? await admitted : admitted;
    using place = call.place;
    entry.admitted(call.ask);
    entry.toolServers = call.toolServers?.names ?? [];
    entry.step = 'inspect';
    const inspection = await stages.inspect(call, entry);
    entry.step = 'route';
    const targets = await stages.route(call, inspection, entry);
    const plan = await stages.prepare(call, inspection, targets, entry);
    entry.unscanned = unscannedOf(plan);
    using recalled = await stages.recall(call, plan);
    entry.step = 'meter';
    const demand = stages.demand(call, inspection, plan);
    const { hit } = recalled;
    const hold = (entry.hold = hit ? undefined : await stages.meter(call, plan, demand, entry));
    const limits = hold?.limits ?? (await stages.count(call));
    entry.step = 'dispatch';
    const headers = responseHeaders(entry, recalled);
    // What is left to do for it is to be sent.
    place?.[Symbol.dispose]();
    await emit({ kind: 'accepted', stream: call.ask.stream, headers, limits });
    let text = '';
    const heard: Emit = (answer) => {
      if (answer.kind === 'body') text += answer.text;
      return emit(answer);
    };
    await stages.dispatch({ call, inspection, demand, hold, recalled }, entry, hit ? heard : emit);
    if (hit) stages.remember(call, inspection, hit, headers, text, entry);
  } catch (thrown) {
    const stopped = thrown === ingress.signal.reason && thrown instanceof ServerRestarting;
    const error = asGatewayError(stopped ? restarting() : thrown);
    entry.failed(error);
    throw error;
  }
}

/** Lets a call through that is the same as one just answered from the cache: it is counted, and not read again. */
async function accepted(ingress: Ingress, repeat: Repeat, stages: Stages, entry: Entry): Promise<Answer> {
  entry.recurs(repeat.row);
  entry.step = 'meter';
  const limits = await stages.count(ingress);
  entry.step = 'dispatch';
  entry.answeredAgain(repeat.row);
  return { kind: 'accepted', stream: repeat.row.asked.stream, headers: repeat.headers, limits };
}

/** Why nobody waits for an answer any more. */
function gone({ signal }: Ingress): unknown {
  return signal.reason instanceof ServerRestarting ? restarting() : signal.reason;
}

function unscannedOf(plan: Candidates): readonly string[] {
  const [only] = plan;
  if (only && plan.length === 1) return only.unscanned;
  return [...new Set(plan.flatMap((candidate) => candidate.unscanned))];
}

function responseHeaders({ unscanned }: Pick<Entry, 'unscanned'>, { state }: Recalled): Record<string, string> {
  const headers: Record<string, string> = {};
  if (state !== 'off') headers['x-gw-cache'] = state;
  if (unscanned.length > 0) headers['x-gw-unscanned'] = unscanned.join(', '); // spec 4.3.5
  return headers;
}
