import type { WireDocument } from '../../document/document.ts';
import type { JsonObject } from '../../document/json.ts';
import type { Steps } from '../../document/steps.ts';

/** A tool that the gateway runs for a model. */
export interface LoopTool {
  /** What the model calls it. */
  readonly alias: string;
  /** Name of its MCPServer. */
  readonly server: string;
  /** What its server calls it. */
  readonly name: string;
  readonly description: string | undefined;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject | undefined;
  /** The client wants to be asked before each call. */
  readonly asksClient: boolean;
}

/** A call that a model makes of such a tool. */
export interface LoopCall {
  /** The model's id for it. */
  readonly id: string;
  readonly tool: LoopTool;
  /** As the model wrote them. */
  readonly argumentsJson: string;
}

/** A call that was run, or refused. */
export interface RanCall extends LoopCall {
  /** The text that the model receives. */
  readonly output: string;
  readonly isError: boolean;
}

/** What one answer of the model asks for. */
export interface Round {
  /** To be run before anything else. */
  readonly calls: readonly LoopCall[];
  /** Nothing follows: the model has answered, or calls functions of the client's. */
  readonly isLast: boolean;
}

/** One request whose tools the gateway runs: its rounds, in the words of its family. Pure. */
export interface LoopConversation {
  /** Calls that the client has approved, to be run before the first round. */
  readonly approved: readonly LoopCall[];
  /** The request of the next round. */
  request(): string;
  /** Takes a piece of the round's answer: returns the text to send to the client now, maybe empty. */
  hear(piece: string): string;
  /** The answer of the round is over. Throws `SyntaxError` if it is not of this family. */
  read(): Round;
  /** A call of the round is over: returns the text to send to the client now. */
  ran(call: RanCall): string;
  /** The rest of the answer, once the last round was read: the whole answer if nothing was sent before. */
  end(): string;
}

/** How a family runs a request with tools of the gateway. */
export interface LoopCodec {
  /** Whether the client can be asked to approve a call. */
  readonly asksClients: boolean;
  /** Whether a request that names no server tells of tools that the gateway has run. */
  tellsOfTools(document: WireDocument): boolean;
  /** Begins a conversation. Throws `BadRequestShape` for members that exclude tools of the gateway. */
  begin(document: WireDocument, tools: readonly LoopTool[], callId: string): Steps<LoopConversation>;
}

/** The tools of servers by server and name, which neither has a line break in. */
export function byServer(tools: readonly LoopTool[]): (server: string, name: string) => LoopTool | undefined {
  const all = new Map(tools.map((tool) => [`${tool.server}\n${tool.name}`, tool]));
  return (server, name) => all.get(`${server}\n${name}`);
}

/** Throws `SyntaxError` where calls of one answer share an id. A single call may have an empty one: some servers write none. */
export function requireOwnIds(calls: readonly LoopCall[]): void {
  const ids = new Set(calls.map(({ id }) => id));
  if (ids.size < calls.length) throw new SyntaxError('calls without ids of their own');
}
