import type { McpServerConfig } from '#/config/snapshot.ts';
import { McpTokenFault } from '#/ports/mcp-servers.ts';
import { UpstreamFault, type Incoming } from '#/ports/provider.ts';
import type { Transport } from '../http/transport.ts';
import { AccessTokens, type AccessToken } from './access-tokens.ts';
import type { ForUser } from './exchanges.ts';
import { unlessLate } from './unless-late.ts';

/** The headers of a credential; a secret in them is one that no answer may repeat. */
export interface CredentialHeaders {
  readonly headers: Readonly<Record<string, string>>;
  /** As it stands in the header, without the word before it. */
  readonly secret: string | undefined;
}

/** How long a request may take. */
interface Waiting {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What the gateway proves to one server with: nothing, a header, or access tokens. */
export class Credential {
  readonly #server: Pick<McpServerConfig, 'auth'>;
  /** Of a server that takes access tokens. */
  readonly #tokens: AccessTokens | undefined;

  /** `user`: the user that the server is asked for. */
  constructor(server: Pick<McpServerConfig, 'auth' | 'url'>, transport: Transport, user?: ForUser) {
    this.#server = server;
    const { auth, url } = server;
    if (auth.type !== 'none' && auth.type !== 'header') this.#tokens = new AccessTokens(auth, url, transport, user);
  }

  /**
   * Resolves with the head of the answer to `post`, which sends the request with these headers before `until`. A request whose
   * access token the server refuses with 401 is sent again, once, with another one: it was not run. Rejects with
   * `UpstreamFault` or `McpTokenFault`.
   */
  async send(
    waiting: Waiting,
    post: (credential: CredentialHeaders, until: number) => Promise<Incoming>,
  ): Promise<Incoming> {
    const until = performance.now() + waiting.timeoutMs;
    const token = await this.#token(waiting, until);
    const incoming = await post(this.#headers(token), until);
    if (!token || incoming.status !== 401) {
      if (token && incoming.status < 400) token.hasWorked = true;
      return incoming;
    }
    if (this.#tokens?.refused(token) !== true) return incoming;
    let another: AccessToken | undefined;
    try {
      another = await this.#token(waiting, until);
    } catch (thrown) {
      // The server has the request: its refusal is the answer, not that there is no other token.
      if (thrown instanceof McpTokenFault && !waiting.signal.aborted) return incoming;
      incoming.close();
      throw thrown;
    }
    incoming.close();
    return post(this.#headers(another), until);
  }

  /** Whether the token endpoint has been asked and has not answered yet. */
  get awaitsToken(): boolean {
    return this.#tokens?.isAsked ?? false;
  }

  async #token({ signal }: Waiting, until: number): Promise<AccessToken | undefined> {
    const token = this.#tokens?.get();
    try {
      return token instanceof Promise ? await unlessLate(token, signal, until) : token;
    } catch (thrown) {
      if (!(thrown instanceof UpstreamFault) || thrown.kind !== 'timeout') throw thrown;
      throw new McpTokenFault('timeout', 'the token endpoint did not answer in time');
    }
  }

  #headers(token: AccessToken | undefined): CredentialHeaders {
    const { auth } = this.#server;
    if (token) return { headers: { authorization: `Bearer ${token.value}` }, secret: token.value };
    if (auth.type !== 'header') return { headers: {}, secret: undefined };
    return { headers: { [auth.header]: auth.value }, secret: auth.value.slice(auth.value.lastIndexOf(' ') + 1) };
  }
}
