import { BadRequestShape } from '../hub/codec.ts';
import type { JsonObject } from '../document/json.ts';
import { readQuestions, type Question } from './questions.ts';
import { readRouterState, readState, type RouterState, type State } from './state.ts';

/** The id of the router, which has questions of its own. */
export const ROUTER = 'gw/typed/router';

/** A request for a decision of a local model. */
export type DecisionRequest = { readonly state: State } & (
  | { readonly questions: readonly Question[]; readonly router?: never }
  | { readonly router: RouterState; readonly questions?: never }
);

/**
 * What a local model is asked; `model` is its id. `bounded`: as it was sent, so that its size counts. Throws
 * `BadRequestShape`. // spec 4.4.3 to 4.4.5
 */
export function readDecision(body: JsonObject, model: string, bounded = true): DecisionRequest {
  if (model !== ROUTER) {
    return { state: readState(body['state'], bounded), questions: readQuestions(body['questions'], bounded) };
  }
  if (Object.hasOwn(body, 'questions')) {
    throw new BadRequestShape('The router has its own questions: remove questions', 'questions');
  }
  const state = readState(body['state'], bounded);
  return { state, router: readRouterState(state) };
}
