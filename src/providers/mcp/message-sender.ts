import type { McpServerConfig } from '#/config/snapshot.ts';
import type { Incoming } from '#/ports/provider.ts';
import type { Era } from '#/wire/mcp/eras.ts';
import { encodeHeader } from '#/wire/mcp/headers.ts';
import type { Transport } from '../http/transport.ts';
import { Credential } from './credential.ts';
import type { ForUser } from './exchanges.ts';

/** One message to a server. */
export interface SentMessage {
  /** How the server is spoken to; undefined: not known yet. */
  readonly link: { readonly era: Era; readonly version: string; readonly session: string | undefined } | undefined;
  readonly method: string;
  /** What the method's `Mcp-Name` header says. */
  readonly name?: string | undefined;
  /** Headers for a modern server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it is no message, but asks for the stream of a session, or ends it. */
  readonly body: string | undefined;
  /** Of a request without a body. */
  readonly http?: 'GET' | 'DELETE' | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Posts messages to one server, with its credential. */
export class MessageSender {
  readonly #transport: Transport;
  readonly #credential: Credential;
  readonly #origin: string;
  readonly #path: string;

  /** `user`: the user that the server is asked for. */
  constructor(server: McpServerConfig, transport: Transport, user?: ForUser) {
    this.#transport = transport;
    this.#credential = new Credential(server, transport, user);
    const { origin, pathname } = new URL(server.url);
    this.#origin = origin;
    this.#path = pathname;
  }

  /** Resolves with the head of the answer. Rejects with `UpstreamFault` or `McpTokenFault`. */
  async send(message: SentMessage): Promise<Incoming> {
    return this.#credential.send(message, ({ headers }, until) => this.#post(message, headers, until));
  }

  /** Whether the token endpoint has been asked and has not answered yet. */
  get awaitsToken(): boolean {
    return this.#credential.awaitsToken;
  }

  #post(
    { link, method, name, headers, body, http, signal }: SentMessage,
    credential: Readonly<Record<string, string>>,
    until: number,
  ): Promise<Incoming> {
    return this.#transport.send({
      method: http ?? 'POST',
      origin: this.#origin,
      path: this.#path,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        accept: http === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(link && { 'mcp-protocol-version': link.version }),
        ...(link?.session !== undefined && { 'mcp-session-id': link.session }),
        ...(link?.era === 'modern' && {
          'mcp-method': method,
          ...(name !== undefined && { 'mcp-name': encodeHeader(name) }),
          ...headers,
        }),
        ...credential,
      },
      body,
      timeoutMs: Math.max(1, until - performance.now()),
      // A stream may be silent for long; the transport ends it after its hour.
      idle: http === 'GET',
      signal,
    });
  }
}
