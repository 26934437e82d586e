import type { Upstreams } from '#/dispatch/upstream/upstreams.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { McpServers } from '#/ports/mcp-servers.ts';
import type { AnswerServer } from './clients/answer.ts';
import type { Lists } from './list-kinds.ts';
import type { ClientSessions } from './clients/client-sessions.ts';
import type { OfferedTools } from './offered-tools.ts';

/** What calls of tools are made with. */
export interface ToolParts {
  readonly servers: McpServers;
  readonly lists: Lists;
  readonly offered: OfferedTools;
  /** The prompts of servers, likewise. */
  readonly prompts: OfferedTools;
  /** Their instructions. */
  readonly instructions: OfferedTools;
  readonly clients: ClientSessions;
  readonly answerServer: AnswerServer;
}

/** What servers are asked with. */
export interface AskParts {
  readonly tools: ToolParts;
  readonly upstreams: Pick<Upstreams, 'enter' | 'health'>;
  readonly detection: Detection;
}
