import type { StreamEvent } from '../../hub/canonical.ts';
import type { AnswerContext } from '../../hub/codec.ts';
import { readDocument } from '../../document/document.ts';
import type { JsonObject } from '../../document/json.ts';
import { SseDecoder } from '../../answer/sse.ts';
import { messagesCodec } from '../codec.ts';

export const CONTEXT: AnswerContext = {
  callId: '01890a5d-ac96-774b-bcce-b302099a8057',
  model: 'm',
  createdAt: 0,
  request: readDocument('messages', '{}'),
  includeUsage: true,
  estimatedInput: 12,
};

export function write(
  events: readonly StreamEvent[],
): readonly { readonly name: string | undefined; body: JsonObject }[] {
  const encoder = messagesCodec.streamEncoder(CONTEXT);
  const text = events.map((one) => encoder.encode(one)).join('');
  return new SseDecoder(2 ** 20).push(Buffer.from(text)).map((sse) => {
    return { name: sse.event, body: JSON.parse(sse.data ?? 'null') as JsonObject };
  });
}

export const delta = (index: number, said: object): object => ({ type: 'content_block_delta', index, delta: said });
