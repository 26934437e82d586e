import type { McpServerConfig } from '#/config/snapshot.ts';
import type { WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { Steps } from '#/wire/document/steps.ts';
import type { ParamHeader } from '#/wire/mcp/headers.ts';

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  /** All that the server says of it, `name` included. */
  readonly definition: JsonObject;
  readonly inputSchema: JsonObject;
  /** Arguments that headers repeat where the server speaks the modern revision. */
  readonly headers: readonly ParamHeader[];
}

/** What a server lists. */
export interface ToolListing {
  /** In the server's order, with any names: `readDefinitions` says which can be offered. */
  readonly tools: readonly ListedTool[];
  /** Entries that are left out because they break the protocol's rules for definitions. */
  readonly leftOut: number;
  /** Size of the list as it came. */
  readonly bytes: number;
  /** How long the server lets the list be kept, in milliseconds; undefined: it does not say. */
  readonly ttlMs: number | undefined;
  /** The revision that the server speaks. */
  readonly version: string;
}

/** A session that one client has with a legacy server. */
export interface ServerSession {
  /** Undefined: the server gives its sessions no id. */
  readonly id: string | undefined;
  /** The revision that it speaks there. */
  readonly version: string;
}

/** What a legacy server asks its client while it works: a form to fill in, a model's answer, a list of folders. */
export interface ServerAsk {
  readonly method: string;
  /** The whole message. */
  readonly document: WireDocument;
  /** Sends the answer. `member`: JSON source of `"result":…` or `"error":…`. Rejects as `McpServers.notify` does. */
  answer(member: string): Promise<void>;
}

/** Whose session a server is asked in. */
export interface InSession {
  /** `alone`: one for this request only. Absent: the one that all clients share. */
  readonly session?: ServerSession | 'alone' | undefined;
  /** The access token that the request came with, for a server that is asked for its user. */
  readonly subject?: string | undefined;
}

/** Does all steps of work on a large answer, in turns with other work. */
export type InTurns = <T>(steps: Steps<T>) => Promise<T>;

/** One call of a tool, as it is sent. */
interface ToolAsk extends InSession {
  readonly tool: string;
  /** JSON source of the arguments; undefined: the call has none. */
  readonly arguments: string | undefined;
  /** JSON source of members that answer what a modern server asked for before, each followed by a comma; absent: none. */
  readonly input?: string | undefined;
  /** What a modern server is said that the client can do; absent: nothing. */
  readonly capabilities?: JsonObject | undefined;
  /** Takes what a legacy server asks in the session of a client; absent: it is refused. */
  readonly onAsk?: ((ask: ServerAsk) => void) | undefined;
  /** Reads a large answer; absent: it is read at once. */
  readonly inTurns?: InTurns | undefined;
  /** Headers that repeat arguments, for a modern server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Members of `_meta` that go on. */
  readonly meta: JsonObject;
  /** Progress and log messages of the server while it works; absent: they are dropped. */
  readonly onNotice?: ((notice: WireDocument) => void) | undefined;
  /** Milliseconds to the end of the answer; progress does not extend it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What a server answered. Dispose of it when it has been passed on: it takes room. */
export interface ToolAnswer extends Disposable {
  readonly kind: 'result' | 'error';
  /** The result or the error, a JSON object. */
  readonly document: WireDocument;
  /** The revision that the server speaks. */
  readonly version: string;
  /** Of an HTTP API, the status of its answer: from 500 on it failed; absent: 200. */
  readonly status?: number;
}

/** A server that answered otherwise than with a message of the protocol. */
export class McpServerFault extends Error {
  override readonly name = 'McpServerFault';
  /** The status of its answer. */
  readonly status: number;
  /** How long it asks us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether the request was sent. False: the server could not be opened. */
  sent = true;

  constructor(status: number, message: string, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A server that does not know the session that it was asked in: it did not run the request. */
export class McpSessionLost extends McpServerFault {}

/**
 * `refused`: the gateway's client; `not_exchanged`: the access token of the user; `answer`: the answer holds no token;
 * `busy`: too many tokens of users are being exchanged.
 */
export type McpTokenFaultKind = 'refused' | 'not_exchanged' | 'unreachable' | 'timeout' | 'answer' | 'busy';

/** The token endpoint of a server gave no access token. Nothing was sent to the server. */
export class McpTokenFault extends Error {
  override readonly name = 'McpTokenFault';
  readonly kind: McpTokenFaultKind;
  /** How long the endpoint is left alone, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(kind: McpTokenFaultKind, message: string, retryAfterMs?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }

  /** The same, while the endpoint is left alone. */
  again(retryAfterMs: number): McpTokenFault {
    return new McpTokenFault(this.kind, this.message, retryAfterMs);
  }
}

/** Tokens of users may not be sent to the token endpoint: it was not asked. */
export class TokenOriginFault extends McpTokenFault {
  constructor() {
    super('refused', 'the origin of the token endpoint is not in GW_MCP_TOKEN_ORIGINS');
  }
}

/** Answers in progress take more memory than there is for them. The server has run the request; its answer was dropped. */
export class NoRoomForResults extends Error {
  override readonly name = 'NoRoomForResults';
}

/** A resource, or a template of resources, as its server lists it. */
export interface ListedResource {
  /** Its own address, or the template of addresses. */
  readonly uri: string;
  /** The parts of its entry that clients get, the address included. */
  readonly definition: JsonObject;
}

/** What a server lists of resources, or of templates. */
export interface ResourceListing extends Pick<ToolListing, 'leftOut' | 'bytes' | 'ttlMs' | 'version'> {
  /** In the server's order, each address once. */
  readonly resources: readonly ListedResource[];
  /** The server has more of them than are looked at. */
  readonly isCut: boolean;
}

/** What a server says of itself: its instructions, as a list of at most one definition. */
export interface ServerAbout extends ToolListing {
  /** Kinds of requests that it serves: `tools`, `resources`, `prompts`, `completions`. */
  readonly capabilities: ReadonlySet<string>;
}

/** One request that reads of a server, as it is sent. */
export interface ReadAsk extends Omit<ToolAsk, 'tool' | 'arguments' | 'headers' | 'input' | 'onAsk' | 'capabilities'> {
  readonly method: 'resources/read' | 'prompts/get' | 'completion/complete';
  /** What the method's `Mcp-Name` header says. */
  readonly name?: string;
  /** JSON source of an object: the params without `_meta`. */
  readonly params: string;
}

/** Servers of tools, asked in the revision that each speaks. */
export interface McpServers {
  /** Rejects with `UpstreamFault`, `McpServerFault` (`McpSessionLost`), `McpTokenFault` or `NoRoomForResults`. */
  call(server: McpServerConfig, ask: ToolAsk): Promise<ToolAnswer>;
  /** All pages of its list. Rejects with `UpstreamFault`, `McpServerFault` or `McpTokenFault`. */
  list(server: McpServerConfig, timeoutMs: number): Promise<ToolListing>;
  /** Reads a resource, a prompt or completions. Rejects as `call` does. */
  read(server: McpServerConfig, ask: ReadAsk): Promise<ToolAnswer>;
  /** All pages of its prompts, each as a definition; none of a server that has no prompts. Rejects as `list` does. */
  prompts(server: McpServerConfig, timeoutMs: number): Promise<ToolListing>;
  /** Its resources, as many as are looked at. Rejects as `list` does. */
  resources(server: McpServerConfig, timeoutMs: number): Promise<ResourceListing>;
  templates(server: McpServerConfig, timeoutMs: number): Promise<ResourceListing>;
  /** What it says of itself. Rejects as `list` does. */
  about(server: McpServerConfig, timeoutMs: number): Promise<ServerAbout>;
  /**
   * Opens a session for one client; undefined: the server is modern and has none. `capabilities`: what the client can do.
   * Rejects as `call` does.
   */
  openSession(
    server: McpServerConfig,
    ask: Pick<InSession, 'subject'> & {
      readonly capabilities: JsonObject;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<ServerSession | undefined>;
  /** Ends a session of a client. Never rejects: a server may refuse. */
  closeSession(server: McpServerConfig, to: ToSession): Promise<void>;
  /** Sends a message that has no answer. Rejects as `call` does. */
  notify(server: McpServerConfig, to: ToSession, message: string): Promise<void>;
  /** Asks for something whose result is nothing. Rejects as `call` does, also where the server answers with an error. */
  request(
    server: McpServerConfig,
    to: ToSession,
    ask: {
      readonly method: string;
      readonly params: JsonObject;
      readonly timeoutMs: number;
      readonly signal: AbortSignal;
    },
  ): Promise<void>;
  /**
   * What a legacy server says to one client besides its answers. Resolves when the server ends the stream; false: it has
   * none. Rejects as `call` does, and when the signal is aborted.
   */
  listen(server: McpServerConfig, to: ToSession, options: ListenOptions): Promise<boolean>;
}

/** A session of a client. */
export interface ToSession extends InSession {
  readonly session: ServerSession;
}

export interface ListenOptions {
  /** Nothing more is read before it resolves: a server cannot fill memory with what waits. */
  readonly onNotice: (notice: WireDocument) => Promise<void>;
  /** As of a call. */
  readonly onAsk: (ask: ServerAsk) => void;
  readonly signal: AbortSignal;
}
