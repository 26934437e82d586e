import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the stand-in received it. */
export interface McpReceived {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
    readonly result?: Record<string, unknown>;
    readonly error?: Record<string, unknown>;
  };
}

export interface McpToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Record<string, unknown>;
  readonly [other: string]: unknown;
}

/** How a stand-in behaves; all of it may change while it runs. */
export interface McpBehaviour {
  era: 'legacy' | 'modern';
  /** A legacy server that gives sessions. */
  sessions: boolean;
  /** Answers come as a stream of events. */
  streams: boolean;
  tools: readonly McpToolDefinition[];
  /** The result of a call, or the whole answer where it writes that itself. */
  call: (received: McpReceived, response: ServerResponse) => unknown;
  /** What it says of itself besides its tools. */
  about: { readonly capabilities?: Readonly<Record<string, object>>; readonly instructions?: string };
  /** The result of any other method, as of `call`; absent: it knows no other. */
  other: McpBehaviour['call'] | undefined;
  /** How it answers to a session that it does not know; 400 as the older library does. */
  lostStatus: 400 | 404;
  /** Whether it opens sessions. */
  opens: boolean;
  /** Whether its credential is good; a request without a good one is answered with 401. */
  admits: (received: McpReceived) => boolean;
}

/** An MCP server that a test steers, and that remembers its requests. */
export interface McpStandIn extends AsyncDisposable {
  readonly url: string;
  readonly received: McpReceived[];
  readonly behaviour: McpBehaviour;
  /** Forgets all sessions, as a server does that starts again. */
  forgetSessions(): void;
  /** Sessions that are open. */
  readonly sessions: ReadonlySet<string>;
  /** Asks the client of a call something on the stream of its answer, which this opens; resolves with the answer. */
  ask(response: ServerResponse, method: string, params?: object): Promise<McpReceived['body']>;
  /** Streams of sessions that are open, by session. */
  readonly streams: ReadonlyMap<string, ServerResponse>;
  /** Those of one method. */
  of(method: string): readonly McpReceived[];
}

export const ANY_ARGUMENTS = { type: 'object', additionalProperties: true };

/** Starts a stand-in whose tool `echo` returns its arguments as text. */
export async function startMcpServer(changes: Partial<McpBehaviour> = {}): Promise<McpStandIn> {
  const behaviour: McpBehaviour = {
    era: 'legacy',
    sessions: true,
    streams: false,
    tools: [{ name: 'echo', description: 'Repeats its arguments', inputSchema: ANY_ARGUMENTS }],
    call: ({ body }) => ({ content: [{ type: 'text', text: JSON.stringify(body.params?.['arguments'] ?? null) }] }),
    about: {},
    other: undefined,
    lostStatus: 404,
    opens: true,
    admits: () => true,
    ...changes,
  };
  const received: McpReceived[] = [];
  const sessions = new Set<string>();
  const streams = new Map<string, ServerResponse>();
  const waiting = new Map<unknown, (body: McpReceived['body']) => void>();
  let count = 0;
  let asked = 0;
  const about = () => ({ ...behaviour.about, capabilities: { tools: {}, ...behaviour.about.capabilities } });
  const answer = (request: McpReceived, response: ServerResponse): void => {
    const { body, headers } = request;
    const { method = '' } = body;
    const send = (status: number, message: object | undefined, more: Record<string, string> = {}): void => {
      if (message === undefined) return void response.writeHead(status, more).end();
      const text = JSON.stringify({ jsonrpc: '2.0', id: body.id, ...message });
      const type = behaviour.streams && status === 200 ? 'text/event-stream' : 'application/json';
      response.writeHead(status, { 'content-type': type, ...more });
      response.end(type === 'application/json' ? text : `event: message\ndata: ${text}\n\n`);
    };
    if (!behaviour.admits(request)) return send(401, { error: { code: -32000, message: 'Unauthorized' } });
    if (behaviour.era === 'modern' && headers['mcp-protocol-version'] !== '2026-07-28')
      return send(400, { error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } });
    if (behaviour.era === 'modern' && method === 'server/discover')
      return send(200, {
        result: {
          resultType: 'complete',
          supportedVersions: ['2026-07-28'],
          ...about(),
          ttlMs: 0,
          cacheScope: 'private',
        },
      });
    if (behaviour.era === 'legacy' && method === 'initialize') {
      if (!behaviour.opens) return send(503, { error: { code: -32000, message: 'starting' } });
      const session = `session-${++count}`;
      sessions.add(session);
      const result = {
        protocolVersion: '2025-11-25',
        ...about(),
        serverInfo: { name: 'stand-in', version: '1' },
      };
      return send(200, { result }, behaviour.sessions ? { 'mcp-session-id': session } : {});
    }
    if (behaviour.era === 'legacy' && method === 'server/discover')
      return send(400, { error: { code: -32600, message: 'what?' } });
    if (behaviour.era === 'legacy' && behaviour.sessions && !sessions.has(String(headers['mcp-session-id'])))
      return send(behaviour.lostStatus, {
        error: { code: behaviour.lostStatus === 404 ? -32001 : -32000, message: 'Session not found' },
      });
    const session = String(headers['mcp-session-id']);
    if (request.method === 'DELETE') {
      sessions.delete(session);
      return send(204, undefined);
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': open\n\n');
      streams.set(session, response);
      return void response.once('close', () => streams.delete(session));
    }
    if (method === '') {
      waiting.get(body.id)?.(body);
      return send(202, undefined);
    }
    if (body.id === undefined) return send(202, undefined);
    const done = behaviour.era === 'modern' ? { resultType: 'complete' } : {};
    if (method === 'tools/list')
      return send(200, {
        result: {
          ...done,
          tools: behaviour.tools,
          ...(behaviour.era === 'modern' && { ttlMs: 1000, cacheScope: 'private' }),
        },
      });
    if (method === 'logging/setLevel' || method === 'ping') return send(200, { result: {} });
    const serve = method === 'tools/call' ? behaviour.call : behaviour.other;
    if (!serve) return send(200, { error: { code: -32601, message: 'unknown method' } });
    Promise.resolve(serve(request, response)).then(
      (result) => {
        if (response.destroyed || response.writableEnded || result === undefined) return;
        if (response.headersSent) {
          const text = JSON.stringify({ jsonrpc: '2.0', id: body.id, result });
          return void response.end(`data: ${text}\n\n`);
        }
        send(200, isError(result) ? result : { result: { ...done, ...(result as object) } });
      },
      () => response.destroy(),
    );
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const body = text === '' ? {} : (JSON.parse(text) as McpReceived['body']);
      const one = { method: request.method ?? '', headers: request.headers, text, body };
      received.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    received,
    behaviour,
    forgetSessions: () => sessions.clear(),
    sessions,
    streams,
    ask(response, method, params) {
      const id = `asked-${++asked}`;
      if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, method, ...(params && { params }) })}\n\n`);
      return new Promise((resolve) => waiting.set(id, resolve));
    },
    of: (method) => received.filter(({ body }) => body.method === method),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function isError(result: unknown): result is { readonly error: object } {
  return typeof result === 'object' && result !== null && 'error' in result;
}
