import { EventStreamCodec } from '@smithy/core/event-streams';
import { expect, test } from 'vitest';
import { writeEvent } from '#/wire/answer/sse.ts';
import { eventFrames } from './frames.ts';

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

function framesOf(events: string): unknown[] {
  const bytes = Buffer.from(eventFrames.frame(events));
  const frames: unknown[] = [];
  for (let start = 0; start < bytes.length;) {
    const length = bytes.readUInt32BE(start);
    const { headers, body } = codec.decode(bytes.subarray(start, start + length));
    const name = (headers[':event-type'] ?? headers[':exception-type'])?.value;
    frames.push([headers[':message-type']?.value, name, JSON.parse(Buffer.from(body).toString('utf8'))]);
    start += length;
  }
  return frames;
}

const inBase64 = (text: string): string => Buffer.from(text).toString('base64');

test('each event is a frame with its data as it was', () => {
  const data = ['{"type":"message_start","n":1.0}', '{"type":"weather","sky":"\\u2600"}'];
  expect(framesOf(data.map((one) => writeEvent(one, 'any')).join(''))).toEqual(
    data.map((one) => ['event', 'chunk', { bytes: inBase64(one) }]),
  );
});

test('what keeps a stream alive is an event that the service does not have', () => {
  expect(framesOf(writeEvent('{"type":"ping"}', 'ping'))).toEqual([['event', 'ping', {}]]);
  expect(framesOf(': keepalive\n\n')).toEqual([]);
});

test.each(['null', '[]', 'busy', '{"error":"busy"}'])('a failure that says %s is one all the same', (data) => {
  expect(framesOf(writeEvent(data, 'error'))).toEqual([['exception', 'internalServerException', {}]]);
});

test.each([
  ['overloaded_error', 'serviceUnavailableException'],
  ['rate_limit_error', 'throttlingException'],
  ['invalid_request_error', 'validationException'],
  ['api_error', 'internalServerException'],
])('a failure of type %s is %s', (type, name) => {
  const event = writeEvent(JSON.stringify({ type: 'error', error: { type, message: 'Busy' } }), 'error');
  expect(framesOf(event)).toEqual([['exception', name, { message: 'Busy' }]]);
});
