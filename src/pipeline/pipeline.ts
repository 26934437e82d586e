import { asGatewayError } from '#errors/gateway-error.ts';
import type { Inspection } from '#inspect/inspect.ts';
import { freeOfCharge, type Demand } from '#meter/demand.ts';
import type { Hold } from '#meter/meter.ts';
import type { Recalled } from '#route/answer-cache.ts';
import type { Dispatch } from '#route/dispatch.ts';
import type { Target } from '#route/plan.ts';
import type { Candidate, Plan } from '#route/prepare.ts';
import type { Entry } from '#seal/entry.ts';
import type { Answer, Call, Ingress } from './call.ts';

/** The steps of the corridor; each throws a `GatewayError` to refuse. */
export interface Stages {
  /** Opens the audit row: disposing it seals the call and settles its hold, whatever happened. */
  open(ingress: Ingress): Entry;
  /** Reads the body and what it asks for. */
  admit(ingress: Ingress): Call;
  inspect(call: Call, entry: Entry): Promise<Inspection>;
  /** Which targets may serve it, in the order they are tried. */
  route(call: Call, inspection: Inspection, entry: Entry): Promise<readonly Target[]>;
  prepare(call: Call, inspection: Inspection, targets: readonly Target[], entry: Entry): Promise<Plan>;
  /** Looks for the answer in the gateway's own cache. */
  recall(call: Call, plan: Plan): Promise<Recalled>;
  demand(call: Call, inspection: Inspection, plan: Plan): Demand;
  meter(call: Call, plan: Plan, demand: Demand, entry: Entry): Promise<Hold<Candidate>>;
  dispatch(work: Omit<Dispatch, 'learned' | 'endpoints' | 'retain'>, entry: Entry): AsyncGenerator<Answer>;
}

/** One call's way: inspect, route, meter, dispatch; sealed and settled at the end of every way out. // spec 1.1 */
export async function* serve(ingress: Ingress, stages: Stages): AsyncGenerator<Answer> {
  await using entry = stages.open(ingress);
  try {
    const call = stages.admit(ingress);
    entry.admitted(call.ask);
    entry.step = 'inspect';
    const inspection = await stages.inspect(call, entry);
    entry.step = 'route';
    const targets = await stages.route(call, inspection, entry);
    const plan = await stages.prepare(call, inspection, targets, entry);
    using recalled = await stages.recall(call, plan);
    entry.step = 'meter';
    const demand = stages.demand(call, inspection, plan);
    const { hit } = recalled;
    const hold = await (hit
      ? stages.meter(call, [hit.candidate], freeOfCharge(demand), entry)
      : stages.meter(call, plan, demand, entry));
    entry.hold = hold;
    entry.step = 'dispatch';
    const headers = responseHeaders(inspection, recalled);
    yield { kind: 'accepted', stream: call.ask.stream, headers, limits: hold.limits };
    yield* stages.dispatch({ call, inspection, demand, hold, recalled }, entry);
  } catch (thrown) {
    const error = asGatewayError(thrown);
    entry.failed(error);
    throw error;
  }
}

function responseHeaders({ unscanned }: Inspection, { state }: Recalled): Record<string, string> {
  const headers: Record<string, string> = {};
  if (state !== 'off') headers['x-gw-cache'] = state;
  if (unscanned.length > 0) headers['x-gw-unscanned'] = unscanned.join(', '); // spec 4.3.5
  return headers;
}
