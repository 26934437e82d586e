import { chatEnvelope } from '#/errors/envelopes.ts';
import { writeEvent } from '#/wire/answer/sse.ts';
import type { Voice } from '../voice.ts';
import { limitHeaders } from './limit-headers.ts';

/** Chat completions, and everything else that speaks like them. // spec 6.1, 7.1 */
export const chatVoice: Voice = {
  idHeaders: ['x-request-id'],
  failure: chatEnvelope,
  failureEvent: (error) => writeEvent(JSON.stringify(chatEnvelope(error))),
  limitHeaders,
  keepalive: ': keepalive\n\n',
};
