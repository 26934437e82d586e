import type { ServerSession } from '#/ports/mcp-servers.ts';
import type { JsonObject } from '#/wire/document/json.ts';

/** A session of a legacy client, as its id says: any process reads it, and none keeps it. */
export interface ClientSession {
  /** Tells it from all others. */
  readonly name: string;
  /** What the client says that it can do. */
  readonly capabilities: JsonObject;
  /** Its own sessions with servers, by the name of the server. */
  readonly servers: ReadonlyMap<string, ServerSession>;
}

/** What a server asks a legacy client, as the client is sent it. */
export interface ClientAsk {
  /** By which the client answers. */
  readonly id: string;
  readonly method: string;
  /** JSON source; undefined: it has no params. */
  readonly params: string | undefined;
}
