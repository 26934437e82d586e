import { randomBytes } from 'node:crypto';
import type { CallContext } from '#/call/call.ts';
import type { ClientSession } from '#/call/client-session.ts';
import { serverIdentity } from '#/config/server-identity.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import type { ServerSession } from '#/ports/mcp-servers.ts';
import type { ContentCipher, ContentPlace } from '#/seal/content/content-cipher.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { digestOfToken } from '#/wire/mcp/access-tokens.ts';

/** Whose session it is, and on which path it was opened. */
export interface SessionOwner extends Pick<CallContext, 'key' | 'person'> {
  /** The access token that the request came with. */
  readonly subject?: string | undefined;
  /** The name in the path; undefined: all servers. */
  readonly server: string | undefined;
}

/** As it is written: short names, since clients send it with every request. */
interface Written {
  readonly n: string;
  readonly t: number;
  readonly c: JsonObject;
  /** Name, beginning of the identity, revision, and id where there is one. */
  readonly s: readonly (readonly [string, string, string, string?])[];
}

/** Longest id that is given or read. */
const MOST_LENGTH = 6000;
const LASTS_MS = 24 * 3_600_000;
const IDENTITY = 12;

/** A name for a new session. */
export function newSessionName(): string {
  return randomBytes(12).toString('base64url');
}

/** Seals a session into its id; undefined: it would be too long. */
export function sealSession(
  cipher: ContentCipher,
  owner: SessionOwner,
  { name, capabilities }: Pick<ClientSession, 'name' | 'capabilities'>,
  servers: readonly (readonly [McpServerConfig, ServerSession])[],
): string | undefined {
  const written: Written = {
    n: name,
    t: Date.now(),
    c: capabilities,
    s: servers.map(([server, { id, version }]): Written['s'][number] => {
      const identity = serverIdentity(server).slice(0, IDENTITY);
      return id === undefined ? [server.name, identity, version] : [server.name, identity, version, id];
    }),
  };
  const sealed = cipher.encrypt(placeOf(owner), Buffer.from(JSON.stringify(written))).toString('base64url');
  return sealed.length > MOST_LENGTH ? undefined : sealed;
}

/** Undefined: it is no session of this caller on this path, or was opened a day ago. */
export function openSealed(cipher: ContentCipher, owner: SessionOwner, id: string): ClientSession | undefined {
  if (id.length > MOST_LENGTH) return undefined;
  const opened = cipher.decrypt(placeOf(owner), Buffer.from(id, 'base64url'));
  if (!opened) return undefined;
  const { n: name, t: at, c: capabilities, s: all } = JSON.parse(opened.toString()) as Written;
  if (Date.now() - at > LASTS_MS) return undefined;
  const servers = new Map<string, ServerSession>();
  const { mcpServers } = owner.key.workload;
  for (const [server, identity, version, session] of all) {
    const config = mcpServers.get(server);
    // A server whose address or credential changed is another one, and so is one of another policy for sessions.
    if (config?.sessions !== 'per_client' || !serverIdentity(config).startsWith(identity)) return undefined;
    servers.set(server, { version, id: session });
  }
  return { name, capabilities, servers };
}

/** Who of those that share a key: a token that names no person is a person of its own. */
export function personOf({ person, subject }: Pick<SessionOwner, 'person' | 'subject'>): string {
  return person ?? (subject === undefined ? '' : `token ${digestOfToken(subject)}`);
}

function placeOf({ key, server, ...who }: SessionOwner): ContentPlace {
  const name = JSON.stringify(['session', key.id, personOf(who), server ?? '']);
  return { organization: key.workload.organization.id, purpose: 'session', name };
}
