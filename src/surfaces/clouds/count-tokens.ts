import type { Door } from '../door.ts';
import type { TokenCount } from '../messages/count-tokens.ts';
import { messagesVoice } from '../messages/protocol.ts';
import type { Voice } from '../voice.ts';
import { BEDROCK_COUNT, bedrockVoice, countedRequest } from './bedrock.ts';
import { asMessages } from './hosted-body.ts';
import { VERTEX_COUNT } from './vertex.ts';

/** Where clients have tokens counted, and how they ask and are told. */
export interface CountDoor {
  readonly path: string;
  readonly voice: Voice;
  /** As of `Door`. */
  readonly receive?: Door['receive'];
  readonly tell: (count: TokenCount) => object;
}

/** The clouds' own addresses for what `/v1/messages/count_tokens` answers. */
export const CLOUD_COUNTS: readonly CountDoor[] = [
  {
    path: BEDROCK_COUNT,
    voice: bedrockVoice,
    receive: async (text, { model = '' }, arrival, signal) =>
      asMessages(await countedRequest(text, arrival, signal), { cloud: 'bedrock', model }, arrival, signal),
    tell: ({ input_tokens }) => ({ inputTokens: input_tokens }),
  },
  // The body names the model here.
  { path: VERTEX_COUNT, voice: messagesVoice, tell: (count) => count },
];
