import type { McpServers } from '#/ports/mcp-servers.ts';
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
}
