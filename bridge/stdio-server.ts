import type { Log } from '#/telemetry/log.ts';
import { removeMembers, render, setMember, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type JsonObject } from '#/wire/document/json.ts';
import { member, type JsonNode, type ObjectNode } from '#/wire/document/scan.ts';
import { LEGACY } from '#/wire/mcp/eras.ts';
import { readResult } from '#/wire/mcp/leaves.ts';
import { RPC } from '#/wire/mcp/message.ts';
import { ChildProgram, type ChildEnd, type ChildOptions } from './child-process.ts';
import type { LongLine } from './lines.ts';

/** What the server said of itself. */
export interface Opened {
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  readonly instructions: string | undefined;
}

/** JSON source of what the server answered. */
export interface StdioAnswer {
  readonly kind: 'result' | 'error';
  readonly text: string;
}

/** One request as a client sent it. */
export interface StdioAsk {
  readonly document: WireDocument;
  /** Takes the params of progress, as JSON source with the client's own token; absent: it wants none. */
  readonly onProgress?: ((params: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** Why there is no answer. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly kind: 'ended' | 'too_large' | 'aborted';

  constructor(kind: NoAnswer['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A request that the server works on. */
interface Waiting {
  readonly resolve: (answer: StdioAnswer) => void;
  readonly reject: (fault: NoAnswer) => void;
  readonly onProgress: ((params: string) => void) | undefined;
  /** JSON source of the client's token. */
  readonly token: string | undefined;
  /** Its client waits no longer, and it is forgotten then. */
  left: NodeJS.Timeout | undefined;
}

/** How long a cancelled request keeps its place where no answer comes: servers that stop their work send none. */
const LEFT_MS = 10_000;

type StdioOptions = Omit<ChildOptions, 'onLine' | 'onLong' | 'onDropped'> & { readonly startMs: number };

/** Members of `_meta` that say how a modern client speaks: not for a server of the older era. */
const OF_ERA = 'io.modelcontextprotocol/';

/**
 * One MCP server over standard input: one process, one session that all clients share. Requests get ids of their own, so that
 * those of clients may be alike. Speaks the era of the handshake, as such servers do.
 */
export class StdioServer {
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProgram;
  readonly #log: Log;
  readonly #startMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #garbage = 0;

  constructor({ startMs, ...options }: StdioOptions, log: Log) {
    this.#log = log;
    this.#startMs = startMs;
    this.#child = new ChildProgram({
      ...options,
      onLine: (line) => this.#hear(line),
      onLong: (line) => this.#hearLong(line),
      onDropped: (lines) => log.warn({ event: 'bridge.stderr_dropped', lines }),
    });
    this.ended = this.#child.ended;
    const stop = (): void => {
      for (const { reject } of this.#waiting.values()) reject(new NoAnswer('ended', 'the server has ended'));
      this.#waiting.clear();
    };
    this.ended.then(stop, stop);
  }

  /** Requests that the server works on, as far as is known: also those that were cancelled a short while ago. */
  get inProgress(): number {
    return this.#waiting.size;
  }

  /** Whether a client waits for an answer. */
  get isAwaited(): boolean {
    return this.#waiting.values().some(({ left }) => left === undefined);
  }

  /** Whether the server reads its requests: a stopped one does not. */
  get isReading(): boolean {
    return this.#child.isReading;
  }

  /** Shakes hands, once. Rejects with `NoAnswer`, or with an error that says why the server cannot be used. */
  async open(): Promise<Opened> {
    const params = {
      protocolVersion: LEGACY[0],
      capabilities: {},
      clientInfo: { name: 'gatewarden-bridge', version: '1' },
    };
    const message = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const { kind, text } = await this.ask({
      document: readResult(message),
      signal: AbortSignal.timeout(this.#startMs),
    });
    const result = JSON.parse(text) as JsonObject;
    const { protocolVersion: version, capabilities, serverInfo, instructions } = result;
    if (kind === 'error' || typeof version !== 'string' || !LEGACY.includes(version as never))
      throw new Error('the server refuses the handshake, or speaks no revision up to 2025-11-25');
    this.#child.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    return {
      version,
      capabilities: isObject(capabilities) ? capabilities : {},
      serverInfo: isObject(serverInfo) ? serverInfo : {},
      instructions: typeof instructions === 'string' ? instructions : undefined,
    };
  }

  /** Sends a request on. Rejects with `NoAnswer`; the server learns of a client that no longer waits. */
  ask({ document, onProgress, signal }: StdioAsk): Promise<StdioAnswer> {
    const id = ++this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<StdioAnswer>();
    const token = onProgress && sourceOf(document, tokenIn(document));
    const waiting: Waiting = { resolve, reject, onProgress, token, left: undefined };
    this.#waiting.set(id, waiting);
    const onAbort = (): void => {
      if (!this.#waiting.has(id)) return;
      waiting.left = setTimeout(() => this.#waiting.delete(id), LEFT_MS).unref();
      const params = { requestId: id };
      this.#child.write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
      reject(new NoAnswer('aborted', 'the request was cancelled'));
    };
    if (signal.aborted) queueMicrotask(onAbort);
    else signal.addEventListener('abort', onAbort, { once: true });
    this.#child.write(render(document.text, editsFor(document, id)).replace(/[\r\n]/g, ' '));
    return promise.finally(() => signal.removeEventListener('abort', onAbort));
  }

  end(): Promise<void> {
    return this.#child.end();
  }

  #hear(line: string): void {
    if (line.trim() === '') return;
    const document = messageIn(line);
    if (!document) return this.#tellGarbage(line.length);
    const { id, method, result, error, params } = document.body;
    if (typeof method === 'string') {
      if (id !== undefined) this.#refuse(sourceOf(document, member(document.root, 'id')), method);
      else if (method === 'notifications/progress' && isObject(params)) this.#progress(document, params);
      return;
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    const kind = isObject(result) ? 'result' : 'error';
    const text = sourceOf(document, member(document.root, kind));
    // The answer to a request that was cancelled, or to none.
    if (!waiting || text === undefined || (kind === 'error' && !isObject(error))) return;
    this.#forget(id as number, waiting);
    waiting.resolve({ kind, text });
  }

  #forget(id: number, { left }: Waiting): void {
    clearTimeout(left);
    this.#waiting.delete(id);
  }

  /** A server whose client has no capabilities may only ask whether it is there. */
  #refuse(id: string | undefined, method: string): void {
    if (id === undefined) return;
    const error = { code: RPC.methodNotFound, message: 'This client does not have the capability.' };
    const answer = method === 'ping' ? '"result":{}' : `"error":${JSON.stringify(error)}`;
    if (this.#child.isReading) this.#child.write(`{"jsonrpc":"2.0","id":${id},${answer}}`);
  }

  #progress({ root, text }: WireDocument, { progressToken }: JsonObject): void {
    const waiting = typeof progressToken === 'number' ? this.#waiting.get(progressToken) : undefined;
    const params = member(root, 'params');
    if (!waiting?.onProgress || waiting.left || waiting.token === undefined || params?.kind !== 'object') return;
    const edits = [setMember(params, 'progressToken', waiting.token)];
    waiting.onProgress(render(text, edits).slice(params.start, params.end + grownBy(edits)));
  }

  /** Its request is answered where its id is at one end of the line, or where only one is in progress. */
  #hearLong({ head, tail, bytes }: LongLine): void {
    this.#log.warn({ event: 'bridge.line_too_long', bytes });
    const found = /^\{"jsonrpc":"2\.0","id":(\d{1,15})[,}]/.exec(head) ?? /,"id":(\d{1,15})\}$/.exec(tail);
    const only = this.#waiting.size === 1 ? [...this.#waiting.keys()][0] : undefined;
    const id = found ? Number(found[1]) : only;
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (id === undefined || !waiting) return;
    this.#forget(id, waiting);
    waiting.reject(new NoAnswer('too_large', 'the answer of the server is too large'));
  }

  /** Of what it writes besides messages nothing is repeated: it may be content. */
  #tellGarbage(characters: number): void {
    this.#garbage += 1;
    if (Number.isInteger(Math.log2(this.#garbage)))
      this.#log.warn({ event: 'bridge.no_message', lines: this.#garbage, characters });
  }
}

function messageIn(line: string): WireDocument | undefined {
  try {
    return readResult(line);
  } catch {
    return undefined;
  }
}

function sourceOf({ text }: WireDocument, node: JsonNode | undefined): string | undefined {
  return node && text.slice(node.start, node.end);
}

function metaIn({ root }: WireDocument): ObjectNode | undefined {
  const meta = member(member(root, 'params'), '_meta');
  return meta?.kind === 'object' ? meta : undefined;
}

function tokenIn(document: WireDocument): JsonNode | undefined {
  return member(metaIn(document), 'progressToken');
}

/** The id and the token become ours, and what only the newer era says is left out. */
function editsFor(document: WireDocument, id: number): readonly Edit[] {
  const token = tokenIn(document);
  const meta = metaIn(document);
  return [
    setMember(document.root, 'id', String(id)),
    ...(token ? [{ start: token.start, end: token.end, text: String(id) }] : []),
    ...(meta ? removeMembers(meta, ({ value }) => value.startsWith(OF_ERA)) : []),
  ];
}

function grownBy(edits: readonly Edit[]): number {
  return edits.reduce((sum, { start, end, text }) => sum + text.length - (end - start), 0);
}
