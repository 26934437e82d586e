import { chatCodec } from '#/wire/chat/codec.ts';
import { completionsCodec } from '#/wire/completions/codec.ts';
import { decisionsCodec } from '#/wire/decisions/codec.ts';
import { embeddingsCodec } from '#/wire/embeddings/codec.ts';
import { imagesCodec } from '#/wire/images/codec.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { moderationsCodec } from '#/wire/moderations/codec.ts';
import { ocrCodec } from '#/wire/ocr/codec.ts';
import { rerankCodec } from '#/wire/rerank/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { systemOneCodec } from '#/wire/systemone/codec.ts';
import { chatVoice } from './chat/protocol.ts';
import type { Door } from './door.ts';
import { messagesVoice } from './messages/protocol.ts';
import { responsesVoice } from './responses/protocol.ts';

const MESSAGES = ['/v1/messages', '/anthropic/v1/messages'];

/** Every way into the corridor. // spec 4.1 */
export const DOORS: readonly Door[] = [
  { surface: 'chat', paths: ['/v1/chat/completions'], codec: chatCodec, voice: chatVoice },
  { surface: 'messages', paths: MESSAGES, codec: messagesCodec, voice: messagesVoice },
  { surface: 'responses', paths: ['/v1/responses'], codec: responsesCodec, voice: responsesVoice },
  { surface: 'completions', paths: ['/v1/completions'], codec: completionsCodec, voice: chatVoice },
  { surface: 'embeddings', paths: ['/v1/embeddings'], codec: embeddingsCodec, voice: chatVoice },
  { surface: 'moderations', paths: ['/v1/moderations'], codec: moderationsCodec, voice: chatVoice },
  { surface: 'rerank', paths: ['/v1/rerank'], codec: rerankCodec, voice: chatVoice },
  { surface: 'ocr', paths: ['/v1/ocr'], codec: ocrCodec, voice: chatVoice },
  { surface: 'systemone', paths: ['/v1/systemone'], codec: systemOneCodec, voice: chatVoice },
  { surface: 'decisions', paths: ['/v1/decisions'], codec: decisionsCodec, voice: chatVoice },
  { surface: 'images', paths: ['/v1/images/generations'], codec: imagesCodec, voice: chatVoice },
];
