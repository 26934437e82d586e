import type { McpServerConfig } from '#/config/snapshot.ts';
import { render, type WireDocument } from '#/wire/document/document.ts';
import { readResult } from '#/wire/mcp/leaves.ts';
import { linkEdits } from '#/wire/mcp/resource-links.ts';
import { federatedUri, looksFederated } from '#/wire/mcp/resource-uris.ts';

/**
 * A result with the addresses of its resources as clients of `/v1/mcp` read them. Those of a server that offers no resources
 * stay, but for such as name another server.
 */
export function linkedText(text: string, server: McpServerConfig): string {
  // Most results hold no address: they are not parsed again. A name may be written with escapes.
  if (!text.includes('"uri"') && !text.includes('\\u')) return text;
  return linked(readResult(text), server);
}

function linked({ root, text }: WireDocument, { prefix, offer }: McpServerConfig): string {
  const isRead = offer.has('resources');
  const to = (uri: string): string => (isRead || looksFederated(uri) ? federatedUri(prefix, uri) : uri);
  return render(text, linkEdits(root, to));
}
