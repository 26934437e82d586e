import { GatewayError } from '#/errors/gateway-error.ts';
import { protection } from '#/inspect/refusals.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { fitsNoLonger } from '../schema-fit.ts';
import { digestOf, notOurs, type InputState } from './input-state.ts';

/** Arguments and answers as they are sent: JSON source. */
export interface Sent {
  readonly arguments: string;
  readonly answers: readonly string[];
}

/**
 * Throws where texts of earlier rounds would be sent otherwise than they were then: its tags would stand for something
 * else than the server knows.
 */
export function refuseOtherRounds(sent: Sent, state: InputState): void {
  const earlier = sent.answers.slice(0, state.answers.length);
  if (digestOf(sent.arguments, earlier) === state.sent) return;
  throw new GatewayError(
    'invalid_request',
    'The arguments, or the tags of personal data in them, differ from those that params.requestState is for: ' +
      'call the tool again without it.',
    { param: notOurs().param ?? 'params.requestState' },
  );
}

/** Throws where what a person filled in fitted a form as it was written, and no longer does as it is sent. */
export function refuseUnfit(forms: JsonObject, written: JsonObject, sent: JsonObject): void {
  for (const [name, form] of Object.entries(forms)) {
    const [before, after] = [contentOf(written[name]), contentOf(sent[name])];
    if (!isObject(form) || before === undefined || after === undefined) continue;
    if (fitsNoLonger(form, before, after))
      throw protection('an answer has personal data whose replacement the form does not take', [
        'params.inputResponses',
      ]);
  }
}

function contentOf(answer: Json | undefined): Json | undefined {
  return isObject(answer) ? answer['content'] : undefined;
}

/** The schema of each form among the questions of a server. */
export function formsOf(requests: Json | undefined): JsonObject {
  const forms: Record<string, Json> = {};
  for (const [name, asked] of Object.entries(isObject(requests) ? requests : {})) {
    const params = isObject(asked) ? asked['params'] : undefined;
    const form = isObject(params) ? params['requestedSchema'] : undefined;
    if (isObject(form)) forms[name] = form;
  }
  return forms;
}
