import type { McpRequest } from '#/call/tool-call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { beginningOf, MOST_RECORDED } from '#/dispatch/cache/recorded.ts';
import { keptOf } from '#/dispatch/retained-call.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { ListedTool } from '#/ports/mcp-servers.ts';
import { toolSlug } from '#/route/tools.ts';
import type { CallContent, ContentWriter } from '#/seal/content/content-writer.ts';

/** A call that its server has, or may have. */
interface SentCall {
  readonly request: McpRequest;
  readonly server: McpServerConfig;
  readonly listed: Pick<ListedTool, 'name'>;
  readonly sent: string | undefined;
  readonly inspection: Inspection | undefined;
}

/**
 * Keeps the arguments as they were sent and, as far as policy passes it on, the result before anything was restored in it;
 * where the policy of the workload retains content. `result`: empty where none is passed on.
 */
export function retainToolCall(
  { request, server, listed, sent = '', inspection }: SentCall,
  result: string,
  { content }: { readonly content: Pick<ContentWriter, 'enqueue'> },
): void {
  if (!request.key.workload.policy.contentRetention) return;
  const truncated: CallContent['truncated'][number][] = [];
  if (sent.length > MOST_RECORDED) truncated.push('request');
  if (result.length > MOST_RECORDED) truncated.push('answer');
  const kept: CallContent = {
    v: 1,
    surface: request.surface,
    wire_format: 'mcp',
    provider: toolSlug(server),
    model: listed.name,
    stream: false,
    same_as: null,
    request: beginningOf(sent),
    answer: beginningOf(result),
    tags: inspection?.tags.originals ?? {},
    truncated,
  };
  content.enqueue(keptOf(request, kept));
}
