import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import { AnswerOutOfBounds, refuseCostlyJson } from '#/wire/answer/answer-bounds.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';

/** An answer put together here, of what a provider said in another form. Its body is JSON. */
export function madeAnswer(status: number, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Incoming {
  const text = JSON.stringify(body);
  return {
    status,
    header: (name) => (name === 'content-type' ? 'application/json' : headers[name]),
    text: () => Promise.resolve(text),
    async *chunks() {
      yield Buffer.from(text, 'utf8');
    },
    close() {},
  };
}

/**
 * A failure in the form of a provider's answer, in the words of the chat family. Asking again does
 * not help.
 */
export function madeFailure(status: number, message: string, code: string): Incoming {
  const error = { message, type: 'invalid_request_error', param: null, code };
  return madeAnswer(status, { error }, { 'x-should-retry': 'false' });
}

/** Whether an answer says that it worked. */
export function succeeded({ status }: Pick<Incoming, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/** The JSON object that an answer holds. Rejects with `UpstreamFault` when it holds something else. */
export async function readObject(incoming: Incoming, limit: number): Promise<JsonObject> {
  let body: unknown;
  const text = await incoming.text(limit);
  try {
    refuseCostlyJson(text);
    body = JSON.parse(text);
  } catch (cause) {
    if (cause instanceof AnswerOutOfBounds) throw new UpstreamFault('too_large', cause.message);
    throw new UpstreamFault('protocol', 'the answer is not JSON', { cause });
  }
  if (!isObject(body)) throw new UpstreamFault('protocol', 'the answer is not a JSON object');
  return body;
}
