import type { McpServers, ResourceListing, ServerAbout, ToolListing } from '#/ports/mcp-servers.ts';
import { ServerLists, type ListEvent } from './server-lists.ts';

const MIB = 1024 * 1024;

/** All lists that servers give, as this process has fetched them. */
export interface Lists {
  readonly tools: ServerLists<ToolListing>;
  readonly prompts: ServerLists<ToolListing>;
  readonly resources: ServerLists<ResourceListing>;
  readonly templates: ServerLists<ResourceListing>;
  readonly about: ServerLists<ServerAbout>;
}

type Asked = Pick<McpServers, 'list' | 'prompts' | 'resources' | 'templates' | 'about'>;

/** Lists that are fetched when they are asked for. */
export function listsOf(servers: Asked, onEvent: (event: ListEvent) => void): Lists {
  const defined = ({ tools }: ToolListing): number => tools.length;
  const found = ({ resources }: ResourceListing): number => resources.length;
  return {
    tools: new ServerLists(
      { kind: 'tools', ask: (...asked) => servers.list(...asked), count: defined, mostBytes: 32 * MIB },
      onEvent,
    ),
    prompts: new ServerLists(
      { kind: 'prompts', ask: (...asked) => servers.prompts(...asked), count: defined, mostBytes: 16 * MIB },
      onEvent,
    ),
    resources: new ServerLists(
      { kind: 'resources', ask: (...asked) => servers.resources(...asked), count: found, mostBytes: 32 * MIB },
      onEvent,
    ),
    templates: new ServerLists(
      { kind: 'templates', ask: (...asked) => servers.templates(...asked), count: found, mostBytes: 16 * MIB },
      onEvent,
    ),
    about: new ServerLists(
      { kind: 'about', ask: (...asked) => servers.about(...asked), count: defined, mostBytes: 8 * MIB },
      onEvent,
    ),
  };
}
