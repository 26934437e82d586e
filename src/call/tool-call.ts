import type { CustomTerm } from '#/config/snapshot.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { ClientEra } from '#/wire/mcp/eras.ts';
import type { CallContext } from './call.ts';
import type { ClientAsk, ClientSession } from './client-session.ts';
import type { Limits } from '#/ports/limit-counters.ts';

/** A request to call a tool of an MCP server. */
export interface ToolCallRequest extends CallContext {
  /** Name of the server in the path; undefined: all servers are offered together, and the tool's name says which. */
  readonly server: string | undefined;
  /** The tool's name as the client knows it. */
  readonly tool: string;
  readonly arguments: ToolArguments | undefined;
  readonly era: ClientEra;
  /** Members of the request's `_meta` that go on to the server. */
  readonly meta: JsonObject;
  /** Terms that no server receives unless it may have originals; absent: none. */
  readonly remove?: readonly CustomTerm[] | undefined;
  /** The access token that it came with; absent: it came with a key. */
  readonly subject?: string | undefined;
  /** What the client says that it can do; absent: nothing. */
  readonly capabilities?: JsonObject | undefined;
  /** The session of a legacy client; absent: it has none. */
  readonly session?: ClientSession | undefined;
  /** Asks a legacy client something; absent: it cannot be asked. */
  readonly onAsk?: ((ask: ClientAsk) => void) | undefined;
  /** What a modern client answers to what the tool asked before; absent: it is the first round. */
  readonly input?: ToolInput | undefined;
  /** Takes progress and log messages while the tool works, as JSON source of `{method, params}`; absent: none are wanted. */
  readonly onNotice?: ((notice: ToolNotice) => void) | undefined;
}

/** A request to an MCP server, whatever it asks for. */
export type McpRequest = Omit<ToolCallRequest, 'tool' | 'server'>;

/** Another round of a call whose tool asked for input. */
export interface ToolInput {
  /** Answers by the names of the questions; absent from the request: undefined. */
  readonly responses: ToolArguments | undefined;
  /** What the gateway gave the client to bring back. */
  readonly state: string | undefined;
}

/** The arguments of a call: as the client wrote them, and the same parsed. */
export interface ToolArguments {
  /** JSON source of an object. */
  readonly source: string;
  readonly value: JsonObject;
}

/** What a server says while a tool works. */
export interface ToolNotice {
  readonly kind: 'progress' | 'message';
  /** JSON source of the params, without a token. */
  readonly params: string;
}

/** What a client is sent for a call of a tool. */
export interface ToolReply {
  readonly kind: 'result' | 'error';
  /** Of the answer, where it does not come as a stream. */
  readonly status: number;
  /** JSON source of the result or the error. */
  readonly text: string;
  /** Kinds of content that were not inspected. */
  readonly unscanned: readonly string[];
  readonly limits: Limits;
}
