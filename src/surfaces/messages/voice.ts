import { messagesEnvelope } from '#/errors/envelopes.ts';
import { writeEvent } from '#/wire/answer/sse.ts';
import type { Voice } from '../voice.ts';
import { messagesHeaders } from './headers.ts';
import { limitHeaders } from './limit-headers.ts';

/** The messages vendor's protocol. // spec 6.2, 7.2 */
export const messagesVoice: Voice = {
  idHeaders: ['x-request-id', 'request-id'],
  failure: messagesEnvelope,
  failureEvent: (error, callId) => writeEvent(JSON.stringify(messagesEnvelope(error, callId)), 'error'),
  limitHeaders,
  keepalive: writeEvent('{"type":"ping"}', 'ping'),
  readHeaders: messagesHeaders,
};

/** Whether a path belongs to the messages vendor's protocol, served or not. */
export function speaksMessages(path: string): boolean {
  return isUnder(path, '/anthropic') || isUnder(path, '/v1/messages');
}

function isUnder(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}
