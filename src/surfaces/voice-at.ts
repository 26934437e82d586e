import { chatVoice } from './chat/protocol.ts';
import { bedrockVoice, isBedrockPath } from './clouds/bedrock.ts';
import { isVertexPath } from './clouds/vertex.ts';
import { messagesVoice, speaksMessages } from './messages/protocol.ts';
import type { Voice } from './voice.ts';

/** How those are told failures who ask at a path, where it has no door for what they ask. // spec 7.2 */
export function voiceAt(path: string): Voice {
  if (isBedrockPath(path)) return bedrockVoice;
  return speaksMessages(path) || isVertexPath(path) ? messagesVoice : chatVoice;
}
