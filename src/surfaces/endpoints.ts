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
import { chatProtocol } from './chat/protocol.ts';
import type { Endpoint } from './endpoint/endpoint.ts';
import { messagesProtocol } from './messages/protocol.ts';
import { responsesProtocol } from './responses/protocol.ts';

const MESSAGES = ['/v1/messages', '/anthropic/v1/messages'];

/** Every way into the pipeline. // spec 4.1 */
export const ENDPOINTS: readonly Endpoint[] = [
  { surface: 'chat', paths: ['/v1/chat/completions'], codec: chatCodec, protocol: chatProtocol },
  { surface: 'messages', paths: MESSAGES, codec: messagesCodec, protocol: messagesProtocol },
  { surface: 'responses', paths: ['/v1/responses'], codec: responsesCodec, protocol: responsesProtocol },
  { surface: 'completions', paths: ['/v1/completions'], codec: completionsCodec, protocol: chatProtocol },
  { surface: 'embeddings', paths: ['/v1/embeddings'], codec: embeddingsCodec, protocol: chatProtocol },
  { surface: 'moderations', paths: ['/v1/moderations'], codec: moderationsCodec, protocol: chatProtocol },
  { surface: 'rerank', paths: ['/v1/rerank'], codec: rerankCodec, protocol: chatProtocol },
  { surface: 'ocr', paths: ['/v1/ocr'], codec: ocrCodec, protocol: chatProtocol },
  { surface: 'systemone', paths: ['/v1/systemone'], codec: systemOneCodec, protocol: chatProtocol },
  { surface: 'decisions', paths: ['/v1/decisions'], codec: decisionsCodec, protocol: chatProtocol },
  { surface: 'images', paths: ['/v1/images/generations'], codec: imagesCodec, protocol: chatProtocol },
];
