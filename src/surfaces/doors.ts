import { chatCodec } from '#wire/chat/codec.ts';
import { chatVoice } from './chat/voice.ts';
import type { Door } from './door.ts';

/** Every way into the corridor. // spec 4.1 */
export const DOORS: readonly Door[] = [
  { surface: 'chat', paths: ['/v1/chat/completions'], codec: chatCodec, voice: chatVoice },
];
