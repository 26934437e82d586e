import { LRUCache } from 'lru-cache';
import type { CallContext } from '#/call/call.ts';
import type { ClientSession } from '#/call/client-session.ts';
import type { McpServerConfig, WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { McpServers, ServerSession, ToSession } from '#/ports/mcp-servers.ts';
import type { Neighbours } from '#/ports/neighbours.ts';
import { serverDenial } from '#/route/tools/servers.ts';
import type { ContentCipher } from '#/seal/content/content-cipher.ts';
import type { Json, JsonObject } from '#/wire/document/json.ts';
import { isObject } from '#/wire/document/json.ts';
import { capabilitiesFor } from '#/wire/mcp/input.ts';
import { OpenAsks } from './open-asks.ts';
import { RunningCalls } from './running-calls.ts';
import { newSessionName, openSealed, sealSession, type SessionOwner } from './session-ids.ts';

/** How long servers may take to open sessions. */
const OPEN_MS = 15_000;
/** Servers that one session of a client has sessions with: its id must not grow too long for a header. */
const MOST_SERVERS = 8;
/** Sessions that one key may open in a minute in one process, and messages besides calls that it may have passed on. */
const MOST_OPENED = 600;
const MINUTE_MS = 60_000;
const MOST_KEYS = 10_000;

/** Whose session it is, with what its servers need to know the user by. */
export interface SessionCaller extends SessionOwner, Pick<CallContext, 'signal'> {}

interface Parts {
  readonly cipher: ContentCipher;
  readonly neighbours: Neighbours;
  readonly servers: McpServers;
}

/** The sessions of legacy clients: what they are is in their ids. */
export class ClientSessions {
  readonly asks: OpenAsks;
  readonly running: RunningCalls;
  readonly #cipher: ContentCipher;
  readonly #servers: McpServers;
  readonly #opened = new LRUCache<string, { count: number; readonly since: number }>({ max: MOST_KEYS });

  constructor({ cipher, neighbours, servers }: Parts) {
    this.#cipher = cipher;
    this.#servers = servers;
    this.asks = new OpenAsks(neighbours, cipher);
    this.running = new RunningCalls(neighbours);
    neighbours.hear((message) => void this.#hear(message));
  }

  /**
   * Opens a session for a client that can do this, and one at each server that has one for each client. Gives its id.
   * Throws the client's error where the only server of the path opens none; of several, one that does not is left out.
   */
  async open(caller: SessionCaller, capabilities: Json | undefined): Promise<string> {
    const servers = this.#serversOf(caller).slice(0, MOST_SERVERS);
    // A session that no server knows costs nothing.
    if (servers.length > 0) this.#count(caller.key.id);
    const opened = await Promise.all(servers.map(async (server) => this.#openAt(server, caller, capabilities)));
    const sessions = opened.flatMap(({ server, session }) => (session ? [[server, session] as const] : []));
    const own = { name: newSessionName(), capabilities: isObject(capabilities) ? declared(capabilities) : {} };
    const id = sealSession(this.#cipher, caller, own, sessions);
    const fault = opened.find((one) => one.fault !== undefined)?.fault;
    if (id !== undefined && !(fault && caller.server !== undefined)) return id;
    for (const [server, session] of sessions) void this.#servers.closeSession(server, { ...caller, session });
    if (fault) throw fault;
    throw new GatewayError('upstream_error', 'The ids of the sessions at the MCP servers are too long to be kept.');
  }

  /** The session of an id; undefined: it belongs to another caller or path, or is too old. */
  of(owner: SessionOwner, id: string): ClientSession | undefined {
    return openSealed(this.#cipher, owner, id);
  }

  /** Whether calls on this path need a session that servers keep something in. */
  isNeeded(owner: SessionOwner): boolean {
    return this.#serversOf(owner).length > 0;
  }

  /** Ends a session: its servers forget it. */
  end(caller: SessionCaller, session: ClientSession): void {
    for (const [server, to] of this.at(caller, session)) void this.#servers.closeSession(server, to);
  }

  /** Tells the servers of a session something that has no answer. A server that does not take it is not waited for. */
  tell(caller: SessionCaller, session: ClientSession, message: string): void {
    if (session.servers.size === 0 || !this.#mayDo(caller.key.id)) return;
    for (const [server, to] of this.at(caller, session))
      this.#servers.notify(server, to, message).catch(() => undefined);
  }

  /** Asks each server of a session. Rejects where one of them refuses. */
  async request(caller: SessionCaller, session: ClientSession, method: string, params: JsonObject): Promise<void> {
    this.#count(caller.key.id);
    const { signal } = caller;
    const asking = this.at(caller, session).map(([server, to]) =>
      this.#servers.request(server, to, { method, params, timeoutMs: OPEN_MS, signal }),
    );
    await Promise.all(asking);
  }

  /** The servers of a session that its workload still reaches and its policy allows, with how each is asked. */
  at(caller: SessionCaller, { servers }: ClientSession): readonly (readonly [McpServerConfig, ToSession])[] {
    const { workload } = caller.key;
    return [...servers].flatMap(([name, session]) => {
      const server = workload.mcpServers.get(name);
      return server && isOpenTo(workload, server) ? [[server, { session, subject: caller.subject }] as const] : [];
    });
  }

  async #openAt(server: McpServerConfig, caller: SessionCaller, said: Json | undefined): Promise<Opened> {
    const { subject, signal } = caller;
    const capabilities = capabilitiesFor(said, server.clientCapabilities);
    try {
      const session = await this.#servers.openSession(server, { subject, capabilities, timeoutMs: OPEN_MS, signal });
      return { server, session };
    } catch (cause) {
      const message = `The MCP server ${server.name} does not open a session.`;
      const report = { cause: 'unavailable', attempts: [] };
      return { server, fault: new GatewayError('upstream_error', message, { report }, { cause }) };
    }
  }

  #serversOf({ server, key: { workload } }: SessionOwner): readonly McpServerConfig[] {
    const named = server === undefined ? undefined : workload.mcpServers.get(server);
    const all = server === undefined ? [...workload.mcpServers.values()] : named ? [named] : [];
    return all
      .filter((one) => one.sessions === 'per_client' && isOpenTo(workload, one))
      .toSorted((a, b) => (a.prefix < b.prefix ? -1 : 1));
  }

  /** Throws where a key opens too many sessions, or says too much in them. */
  #count(key: string): void {
    if (this.#mayDo(key)) return;
    const message = `A key may open ${MOST_OPENED} sessions a minute.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterMs: MINUTE_MS });
  }

  #mayDo(key: string): boolean {
    const now = performance.now();
    const known = this.#opened.get(key);
    const current = known && now - known.since < MINUTE_MS ? known : { count: 0, since: now };
    if (current !== known) this.#opened.set(key, current);
    current.count += 1;
    return current.count <= MOST_OPENED;
  }

  async #hear(message: string): Promise<void> {
    try {
      const told = JSON.parse(message) as { readonly cancel?: string } & Parameters<OpenAsks['hear']>[0];
      if (told.cancel !== undefined) this.running.hear(told.cancel);
      else await this.asks.hear(told);
    } catch {
      // Its client has an answer already; the row says how it ended.
    }
  }
}

interface Opened {
  readonly server: McpServerConfig;
  readonly session?: ServerSession | undefined;
  readonly fault?: GatewayError;
}

/** Whether policy lets a workload reach a server at all. */
function isOpenTo({ policy }: WorkloadConfig, server: McpServerConfig): boolean {
  return serverDenial(server, policy) === undefined;
}

/** What the gateway knows of a client's capabilities: the id of its session need not hold more. */
function declared(capabilities: JsonObject): JsonObject {
  return capabilitiesFor(capabilities, ['elicitation', 'sampling', 'roots']);
}
