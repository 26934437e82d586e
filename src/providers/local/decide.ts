import { modelError } from '#/errors/model-error.ts';
import { shapeError } from '#/errors/shape-error.ts';
import { ModelFault, type LocalModels } from '#/ports/local-models.ts';
import { UpstreamFault, type Incoming, type Outgoing } from '#/ports/provider.ts';
import { BadRequestShape } from '#/wire/hub/codec.ts';
import { readDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { answerOf, routerAnswers } from '#/wire/systemone/answers.ts';
import { decisionOf } from '#/wire/systemone/decision.ts';
import { lengthOf, tooLong } from '#/wire/systemone/questions.ts';
import { readDecision, type DecisionRequest } from '#/wire/systemone/read-request.ts';
import { saysSomething } from '#/wire/systemone/state.ts';
import { estimatedTokens } from '#/wire/answer/usage.ts';
import { madeAnswer } from '../http/made-answer.ts';

/** Decides. Rejects with the `GatewayError` of the model's fault, or with `UpstreamFault`. // spec 2.6, 4.4 */
export async function decide({ body, model, timeoutMs, signal }: Outgoing, models: LocalModels): Promise<Incoming> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const asked = readDecision(readDocument('systemone', body).body, model, false);
    const answer = await answered(asked, models, AbortSignal.any([signal, late]));
    const usage = { input_tokens: tokensOf(asked), output_tokens: 0 };
    return madeAnswer(200, { model, ...answer, usage });
  } catch (thrown) {
    if (thrown instanceof ModelFault) throw modelError(thrown);
    // What data protection has left of it can be asked no more.
    if (thrown instanceof BadRequestShape) throw shapeError(thrown);
    if (signal.aborted) throw new UpstreamFault('aborted', 'the call was aborted', { cause: thrown });
    if (late.aborted) throw new UpstreamFault('timeout', 'the decision took too long', { cause: thrown });
    throw thrown;
  }
}

async function answered(asked: DecisionRequest, models: LocalModels, signal: AbortSignal): Promise<JsonObject> {
  if (asked.router) {
    const opinion = await models.route(asked.router, signal);
    const decision = saysSomething(asked.router) ? decisionOf(opinion) : null;
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
function tokensOf({ state, questions = [] }: DecisionRequest): number {
  const shown = typeof state === 'string' ? state : JSON.stringify(state);
  return Math.max(1, estimatedTokens(shown.length + lengthOf(questions)));
}
