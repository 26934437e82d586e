import { writeEvent } from '#/wire/answer/sse.ts';
import { chatProtocol } from '../chat/protocol.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';

const SEQUENCE_NUMBER = /"sequence_number" *: *(\d{1,15})/g;

/** Responses: like chat, but a stream's error is an event of its own that carries the next number. */
export const responsesProtocol: ClientProtocol = {
  ...chatProtocol,
  failureEvent({ code, message, param }, _callId, last) {
    const event = { type: 'error', code, message, param: param ?? null, sequence_number: nextNumber(last) };
    return writeEvent(JSON.stringify(event), 'error');
  },
};

/** The number after the last one written, 0 where none was. */
function nextNumber(last: string): number {
  let next = 0;
  for (const [, digits] of last.matchAll(SEQUENCE_NUMBER)) next = Number(digits) + 1;
  return next;
}
