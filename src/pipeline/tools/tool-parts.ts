import type { McpServers } from '#/ports/mcp-servers.ts';
import type { ClientSessions } from './clients/client-sessions.ts';
import type { OfferedTools } from './offered-tools.ts';

/** What calls of tools are made with. */
export interface ToolParts {
  readonly servers: McpServers;
  readonly offered: OfferedTools;
  readonly clients: ClientSessions;
}
