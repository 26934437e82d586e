import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpTokenFault } from '#/ports/mcp-servers.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import type { Era } from '#/wire/mcp/eras.ts';
import { encodeHeader } from '#/wire/mcp/headers.ts';
import type { Transport } from '../http/transport.ts';
import { AccessTokens, type AccessToken } from './access-tokens.ts';
import type { ForUser } from './exchanges.ts';
import { unlessLate } from './unless-late.ts';

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
  readonly #server: McpServerConfig;
  readonly #transport: Transport;
  /** Of a server that takes access tokens. */
  readonly #tokens: AccessTokens | undefined;
  readonly #origin: string;
  readonly #path: string;

  /** `user`: the user that the server is asked for. */
  constructor(server: McpServerConfig, transport: Transport, user?: ForUser) {
    this.#server = server;
    this.#transport = transport;
    const { auth, url } = server;
    if (auth.type !== 'none' && auth.type !== 'header') this.#tokens = new AccessTokens(auth, url, transport, user);
    const { origin, pathname } = new URL(url);
    this.#origin = origin;
    this.#path = pathname;
  }

  /**
   * Resolves with the head of the answer. A message whose access token the server refuses with 401 is sent again, once, with
   * another one: it was not run. Rejects with `UpstreamFault` or `McpTokenFault`.
   */
  async send(message: SentMessage): Promise<Incoming> {
    const until = performance.now() + message.timeoutMs;
    const token = await this.#token(message, until);
    const incoming = await this.#post(message, token, until);
    if (!token || incoming.status !== 401) {
      if (token && incoming.status < 400) token.hasWorked = true;
      return incoming;
    }
    if (this.#tokens?.refused(token) !== true) return incoming;
    let another: AccessToken | undefined;
    try {
      another = await this.#token(message, until);
    } catch (thrown) {
      // The server has the message: its refusal is the answer, not that there is no other token.
      if (thrown instanceof McpTokenFault && !message.signal.aborted) return incoming;
      incoming.close();
      throw thrown;
    }
    incoming.close();
    return this.#post(message, another, until);
  }

  /** Whether the token endpoint has been asked and has not answered yet. */
  get awaitsToken(): boolean {
    return this.#tokens?.isAsked ?? false;
  }

  async #token({ signal }: SentMessage, until: number): Promise<AccessToken | undefined> {
    const token = this.#tokens?.get();
    try {
      return token instanceof Promise ? await unlessLate(token, signal, until) : token;
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFault) || thrown.kind !== 'timeout') throw thrown;
      throw new McpTokenFault('timeout', 'the token endpoint did not answer in time');
    }
  }

  #post(
    { link, method, name, headers, body, http, signal }: SentMessage,
    token: AccessToken | undefined,
    until: number,
  ): Promise<Incoming> {
    const { auth } = this.#server;
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
        ...(auth.type === 'header' && { [auth.header]: auth.value }),
        ...(token && { authorization: `Bearer ${token.value}` }),
      },
      body,
      timeoutMs: Math.max(1, until - performance.now()),
      // A stream may be silent for long; the transport ends it after its hour.
      idle: http === 'GET',
      signal,
    });
  }
}
