import type { Endpoint } from '../endpoint/endpoint.ts';
import type { TokenCount } from '../messages/count-tokens.ts';
import { messagesProtocol } from '../messages/protocol.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import { BEDROCK_COUNT, bedrockProtocol, countedRequest } from './bedrock.ts';
import { asMessages } from './hosted-body.ts';
import { VERTEX_COUNT } from './vertex.ts';

/** An endpoint that counts tokens, with the forms of its request and answer. */
export interface CountEndpoint {
  readonly path: string;
  readonly protocol: ClientProtocol;
  /** As of `Endpoint`. */
  readonly receive?: Endpoint['receive'];
  readonly tell: (count: TokenCount) => object;
}

/** The clouds' own addresses for what `/v1/messages/count_tokens` answers. */
export const CLOUD_COUNTS: readonly CountEndpoint[] = [
  {
    path: BEDROCK_COUNT,
    protocol: bedrockProtocol,
    receive: async (text, { model = '' }, authenticated, signal) =>
      asMessages(await countedRequest(text, authenticated, signal), { cloud: 'bedrock', model }, authenticated, signal),
    tell: ({ input_tokens }) => ({ inputTokens: input_tokens }),
  },
  // The body names the model here.
  { path: VERTEX_COUNT, protocol: messagesProtocol, tell: (count) => count },
];
