import { hash } from 'node:crypto';
import type { McpServerConfig } from './snapshot.ts';

const KNOWN = new WeakMap<McpServerConfig, string>();

/**
 * What tells one MCP server from another: a server whose address, credential, sessions or operations changed is another one.
 * A hash, so that the credential is not kept a second time.
 */
export function serverIdentity(server: McpServerConfig): string {
  let identity = KNOWN.get(server);
  if (identity === undefined) {
    identity = hash(
      'sha256',
      JSON.stringify([
        server.id,
        server.url,
        server.auth,
        server.sessions,
        server.clientCapabilities,
        server.api?.digest,
      ]),
      'base64url',
    );
    KNOWN.set(server, identity);
  }
  return identity;
}
