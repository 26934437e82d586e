import type { Upstreams } from '#/dispatch/upstream/upstreams.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { McpServers } from '#/ports/mcp-servers.ts';
import type { AnswerServer } from './clients/answer.ts';
import type { ClientSessions } from './clients/client-sessions.ts';
import type { OfferedTools } from './offered-tools.ts';

/** What calls of tools are made with. */
export interface ToolParts {
  readonly servers: McpServers;
  readonly offered: OfferedTools;
  readonly clients: ClientSessions;
  readonly answerServer: AnswerServer;
}

/** What servers are asked with. */
export interface AskParts {
  readonly tools: Pick<ToolParts, 'servers' | 'offered' | 'clients' | 'answerServer'>;
  readonly upstreams: Pick<Upstreams, 'enter' | 'health'>;
  readonly detection: Detection;
}
