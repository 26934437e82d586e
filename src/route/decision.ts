import { GatewayError } from '#/errors/gateway-error.ts';
import type { Difference } from '#/call/facts.ts';
import { isDenial, notThere, type Denial } from './offer.ts';
import type { Target } from '#/call/target.ts';

/** A model that was considered for a call, and the result. */
export interface Considered {
  /** `<provider>/<model>`; of a call without a model, the provider. */
  readonly id: string;
  readonly found: Target | Denial;
  /** Why it is not tried though it may be: another one is fitter. */
  readonly leftOut?: string;
}

/** Where a call may go, and why there and nowhere else. */
export interface Decision {
  /** In the order they are tried; empty when the call is refused. */
  readonly targets: readonly Target[];
  readonly considered: readonly Considered[];
  /** How it was decided, a line each: for the audit row and for `gwctl explain`. No content. */
  readonly trace: readonly string[];
}

/** Longest list of models in a message to the client. */
const MOST_TOLD = 8;

/** Sums up the considered models. `how`: how their order was chosen, if there was a choice. */
export function decisionOf(
  considered: readonly Considered[],
  how: string | undefined,
  describe: (target: Target) => string,
): Decision {
  const targets: Target[] = [];
  const trace: string[] = how === undefined ? [] : [how];
  for (const { id, found, leftOut } of considered) {
    if (isDenial(found)) trace.push(`${id}: refused: ${found.why}`);
    else if (leftOut !== undefined) trace.push(`${id}: skipped: ${leftOut}`);
    else {
      targets.push(found);
      trace.push(`${id}: selected: ${describe(found)}`);
    }
  }
  return { targets, considered, trace };
}

/** A line on a target that policy lets through and that is not asked after all. */
export function skipped({ provider, model }: Pick<Target, 'provider' | 'model'>, why: string): string {
  return `${provider.config.slug}/${model}: skipped: ${why}`;
}

/** The targets of a decision. Throws the client's error if there are none. */
export function targetsOf(decision: Decision): readonly [Target, ...Target[]] {
  const [first, ...rest] = decision.targets;
  if (!first) throw refusalOf(decision);
  return [first, ...rest];
}

/** The first reason, one that policy gives before one that configuration gives, and everything that was tried. // spec 7.1 */
function refusalOf({ considered }: Decision): GatewayError {
  const denials = considered.flatMap(({ id, found }) => (isDenial(found) ? [{ id, ...found }] : []));
  const [first = notThere('No model with this name is offered.')] = [
    ...denials.filter(({ code }) => code !== 'model_not_found'),
    ...denials,
  ];
  const { code, message, param, shouldRetry } = first;
  const told = denials.slice(0, MOST_TOLD).map(({ id, why }) => `${id} (${why})`);
  const more = denials.length > MOST_TOLD ? ` and ${denials.length - MOST_TOLD} more` : '';
  const tried = denials.length > 1 ? ` Tried: ${told.join(', ')}${more}.` : '';
  const details = { ...(param !== undefined && { param }), ...(shouldRetry !== undefined && { shouldRetry }) };
  return new GatewayError(code, message + tried, details);
}

/** What a policy that is only watched would have decided otherwise about the same models. */
export function routeDifferences(enforced: Decision, shadow: Decision): readonly Difference[] {
  const differences: Difference[] = [];
  const add = ({ code }: Denial, text: string): void => {
    const field = code === 'residency_denied' ? 'residency.allowedJurisdictions' : 'allowedModels';
    differences.push({ field, text });
  };
  for (const [index, { id, found }] of enforced.considered.entries()) {
    const other = shadow.considered[index]?.found;
    if (other === undefined || isDenial(found) === isDenial(other)) continue;
    if (isDenial(other)) add(other, `${id} would be refused: ${other.why}`);
    else if (isDenial(found)) add(found, `${id} would not be refused`);
  }
  const [first] = differences;
  if (first && enforced.targets.length > 0 && shadow.targets.length === 0) {
    differences.push({ field: first.field, text: 'the call would be refused' });
  }
  return differences;
}
