import { EventStreamCodec } from '@smithy/core/event-streams';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { SseDecoder } from '#/wire/answer/sse.ts';
import type { Framing } from '../endpoint/client-protocol.ts';

/** What the messages protocol's failures are called among exceptions of a stream. // wire-formats 1.2 */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  invalid_request_error: 'validationException',
  request_too_large: 'validationException',
  rate_limit_error: 'throttlingException',
  overloaded_error: 'serviceUnavailableException',
};

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

/** Events of the messages family as frames of `InvokeModelWithResponseStream`. */
export const eventFrames: Framing = {
  type: 'application/vnd.amazon.eventstream',
  frame(text) {
    const decoder = new SseDecoder(Infinity);
    const events = [...decoder.push(Buffer.from(text, 'utf8')), ...decoder.end()];
    return Buffer.concat(events.flatMap(({ event, data }) => (data === undefined ? [] : [frameOf(event, data)])));
  },
};

function frameOf(event: string | undefined, data: string): Uint8Array {
  if (event === 'error') return exception(data);
  // The service does not have this event; its clients ignore unknown events.
  if (event === 'ping') return frame({ ':event-type': 'ping', ':message-type': 'event' }, '{}');
  const payload = JSON.stringify({ bytes: Buffer.from(data, 'utf8').toString('base64') });
  return frame({ ':event-type': 'chunk', ':message-type': 'event' }, payload);
}

function exception(data: string): Uint8Array {
  const { type, message } = errorIn(data);
  const name = (typeof type === 'string' && EXCEPTIONS[type]) || 'internalServerException';
  return frame({ ':exception-type': name, ':message-type': 'exception' }, JSON.stringify({ message }));
}

/** Whatever a provider calls an error. */
function errorIn(data: string): JsonObject {
  try {
    const told: unknown = JSON.parse(data);
    const error = isObject(told) ? told['error'] : undefined;
    return isObject(error) ? error : {};
  } catch {
    return {};
  }
}

function frame(named: Readonly<Record<string, string>>, payload: string): Uint8Array {
  const headers = Object.entries({ ...named, ':content-type': 'application/json' });
  return codec.encode({
    headers: Object.fromEntries(headers.map(([name, value]) => [name, { type: 'string', value }])),
    body: Buffer.from(payload, 'utf8'),
  });
}
