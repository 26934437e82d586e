import { GatewayError } from '#errors/gateway-error.ts';
import { modelError } from '#errors/model-error.ts';
import { shapeError } from '#errors/shape-error.ts';
import { ModelFault, type LocalModels } from '#ports/local-models.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#ports/provider.ts';
import { BadRequestShape } from '#wire/codec.ts';
import { readDocument } from '#wire/document.ts';
import type { JsonObject } from '#wire/json.ts';
import { AmbiguousJson } from '#wire/scan.ts';
import { answerOf, routerAnswers } from '#wire/systemone/answers.ts';
import { decisionOf } from '#wire/systemone/decision.ts';
import { lengthOf, readQuestions, tooLong, type Question } from '#wire/systemone/questions.ts';
import { readRouterState, readState, type RouterState, type State } from '#wire/systemone/state.ts';
import { estimatedTokens } from '#wire/usage.ts';
import { madeAnswer } from '../made-answer.ts';

const ROUTER = 'typed/router';

/** A request for a decision of a local model. */
type Decision = { readonly state: State } & (
  | { readonly questions: readonly Question[]; readonly router?: never }
  | { readonly router: RouterState; readonly questions?: never }
);

/**
 * What a local model is asked. `model`: without the provider. `bounded`: as it was sent, so that its size counts. Throws
 * `BadRequestShape`. // spec 4.4.3 to 4.4.5
 */
export function readDecision(body: JsonObject, model: string, bounded = true): Decision {
  if (model !== ROUTER) {
    return { state: readState(body['state'], bounded), questions: readQuestions(body['questions'], bounded) };
  }
  if (Object.hasOwn(body, 'questions')) {
    throw new BadRequestShape('the router has questions of its own: leave out questions', 'questions');
  }
  const state = readState(body['state'], bounded);
  return { state, router: readRouterState(state) };
}

/** Decides. Rejects with the `GatewayError` of the model's fault, or with `UpstreamFault`. // spec 2.6, 4.4 */
export async function decide({ body, model, timeoutMs, signal }: Outgoing, models: LocalModels): Promise<Incoming> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const asked = readDecision(readDocument('systemone', body).body, model.slice(model.indexOf('/') + 1), false);
    const answer = await answered(asked, models, AbortSignal.any([signal, late]));
    const usage = { input_tokens: tokensOf(asked), output_tokens: 0 };
    return madeAnswer(200, { model, ...answer, usage });
  } catch (thrown) {
    if (thrown instanceof ModelFault) throw modelError(thrown);
    // What data protection left of it: options that are the same once they are masked.
    if (thrown instanceof BadRequestShape) throw shapeError(thrown);
    if (thrown instanceof AmbiguousJson) {
      throw new GatewayError('invalid_request', 'Questions or options are the same once data protection masks them.');
    }
    if (signal.aborted) throw new UpstreamFault('aborted', 'the call was given up', { cause: thrown });
    if (late.aborted) throw new UpstreamFault('timeout', 'the decision took too long', { cause: thrown });
    throw thrown;
  }
}

async function answered(asked: Decision, models: LocalModels, signal: AbortSignal): Promise<JsonObject> {
  if (asked.router) {
    const opinion = await models.route(asked.router, signal);
    const decision = decisionOf(opinion);
    return { answers: routerAnswers(opinion), revision: opinion.revision, decision: decision && { ...decision } };
  }
  const questions = asked.questions.map(({ type, instructions, options }) => ({ type, instructions, options }));
  const { answers, revision } = await models.decide(asked.state, questions, signal).catch((thrown: unknown) => {
    if (thrown instanceof ModelFault && thrown.kind === 'too_long') throw tooLong(asked.questions, thrown.question);
    throw thrown;
  });
  const told = asked.questions.map((question, index) => {
    const said = answers[index] ?? { probabilities: [], answerConfidence: undefined };
    return [question.id, answerOf(question, said)] as const;
  });
  return { answers: Object.fromEntries(told), revision };
}

/** Input tokens: about four characters each, of the state and of the questions as the model reads them. // spec 4.4.9 */
function tokensOf({ state, questions = [] }: Decision): number {
  const shown = typeof state === 'string' ? state : JSON.stringify(state);
  return Math.max(1, estimatedTokens(shown.length + lengthOf(questions)));
}
