import { chatProtocol } from './chat/protocol.ts';
import { bedrockProtocol, isBedrockPath } from './clouds/bedrock.ts';
import { isVertexPath } from './clouds/vertex.ts';
import { messagesProtocol, speaksMessages } from './messages/protocol.ts';
import type { ClientProtocol } from './endpoint/client-protocol.ts';

/** The client protocol for errors at a path that has no endpoint for the request. // spec 7.2 */
export function protocolAt(path: string): ClientProtocol {
  if (isBedrockPath(path)) return bedrockProtocol;
  return speaksMessages(path) || isVertexPath(path) ? messagesProtocol : chatProtocol;
}
