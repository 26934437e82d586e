import type { ResolvedPolicy, WorkloadConfig } from '#/config/snapshot.ts';
import type { PassthroughCall } from '#/call/passthrough-call.ts';
import type { Router, RouterVerdict } from '#/ports/local-models.ts';
import { Stopped, type Difference } from '#/call/facts.ts';
import type { ClientCodec } from '#/wire/hub/codec.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import { decisionOf, routeDifferences, targetsOf, type Decision } from './decision.ts';
import { isDenial, offerOf } from './offer.ts';
import { withNearest } from './nearest-models.ts';
import { chooseModels, decide, type RouteDeps } from './plan.ts';
import type { RouteQuestion } from './route-question.ts';
import type { Target } from '#/call/target.ts';
import { choosePassthroughModels, decidePassthrough } from './route-passthrough.ts';

/** Targets in the order they are tried, and how that was decided. */
export interface Routed {
  readonly targets: readonly [Target, ...Target[]];
  /** A line each model. */
  readonly route: readonly string[];
  /** What a policy in shadow mode would have decided otherwise. */
  readonly shadow: readonly Difference[];
}

export interface RoutingDeps extends RouteDeps {
  readonly router?: Router;
}

/** A call as routing sees it, when its client has gone, and what inspection has left of the request, if that is less. */
export type RoutedCall = RouteQuestion & {
  readonly signal: AbortSignal;
  readonly inspected?: () => Promise<WireDocument>;
};

/**
 * Decides which targets may serve a call, in the order they are tried, and says how. A policy in shadow mode is asked about
 * the same models; its differences are stated too. // spec 4.5.1, 5.5, 7.1
 * Throws `model_not_prefixed`, `model_not_found`, `permission_denied`, `residency_denied` or, where a managed account
 * rules something out, `invalid_request`: each with the reason and what was tried, in a `Stopped` with how that was decided.
 */
export async function routeCall(call: RoutedCall, deps: RoutingDeps): Promise<Routed> {
  const { policy, shadow } = call.key.workload;
  const verdict = deps.router && (await judged(call, deps.router));
  try {
    const choice = chooseModels(call, deps, verdict);
    return routed(decide(call, choice, policy, deps), shadow && (() => decide(call, choice, shadow, deps)));
  } catch (thrown) {
    throw naming(thrown, call.ask.model, call, deps);
  }
}

/**
 * Route of a passthrough call: to the provider of its model, or to the provider that its header names. // design 11
 * Throws as `routeCall` does, and `permission_denied` for what needs the organization's own key. // spec 4.1
 */
export function routePassthrough(call: PassthroughCall, model: string | undefined, deps: RouteDeps): Routed {
  const { policy, shadow } = call.key.workload;
  try {
    const choice = choosePassthroughModels(call, model, deps);
    const under = (terms: typeof policy): Decision => decidePassthrough(call, model !== undefined, choice, terms, deps);
    return routed(under(policy), shadow && (() => under(shadow)));
  } catch (thrown) {
    throw model === undefined ? thrown : naming(thrown, model, call, deps);
  }
}

/** The refusal of an unknown model, with the nearest names; what it states stays. */
function naming(
  thrown: unknown,
  model: string,
  { key, startedAt }: Pick<RoutedCall, 'key' | 'startedAt'>,
  deps: RouteDeps,
): unknown {
  const discovery = { ...deps, at: startedAt };
  if (!(thrown instanceof Stopped)) return withNearest(thrown, model, key, discovery);
  return new Stopped(withNearest(thrown.cause, model, key, discovery), thrown.facts);
}

/**
 * Whether a workload may have something done by the gateway itself: `model` is what it is called in allow-lists.
 * Throws `permission_denied` or `model_not_found`.
 */
export function routeLocal(model: string, workload: WorkloadConfig, deps: RouteDeps): Routed {
  const { organization, policy, shadow } = workload;
  const under = (terms: ResolvedPolicy): Decision => {
    const offer = offerOf(model, undefined, { organization, policy: terms }, deps.providers);
    const found = isDenial(offer) ? offer : { ...offer, family: 'documents' as const };
    return decisionOf([{ id: model, found }], undefined, () => 'here');
  };
  return routed(under(policy), shadow && (() => under(shadow)));
}

function routed(decision: Decision, shadow: (() => Decision) | undefined): Routed {
  const facts = { route: decision.trace, shadow: shadow ? differences(decision, shadow) : [] };
  try {
    return { targets: targetsOf(decision), ...facts };
  } catch (thrown) {
    throw new Stopped(thrown, facts);
  }
}

/** A policy in shadow mode never fails a call. */
function differences(decision: Decision, shadow: () => Decision): readonly Difference[] {
  try {
    return routeDifferences(decision, shadow());
  } catch {
    return [{ field: 'allowedModels', text: 'the route could not be decided' }];
  }
}

/**
 * The router's verdict on a call for an automatic alias. It is used for nothing else, and without it the call goes on.
 * It gets the same text as any other model, and as `gw/typed/router`. // spec 4.4.3, 4.4.8
 */
async function judged(
  { ask, key, codec, document, inspected, signal }: RoutedCall,
  router: Router,
): Promise<RouterVerdict | undefined> {
  const alias = key.workload.organization.aliases.get(ask.model);
  if (alias?.strategy !== 'auto' || !('decodeRequest' in codec)) return undefined;
  try {
    return await router.judge(
      (codec as ClientCodec).decodeRequest((await inspected?.()) ?? document, () => {}),
      signal,
    );
  } catch {
    return undefined;
  }
}
