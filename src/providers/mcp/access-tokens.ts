import type { McpServerOAuth } from '#/config/snapshot.ts';
import { McpTokenFault } from '#/ports/mcp-servers.ts';
import { UpstreamFault } from '#/ports/provider.ts';
import type { Transport } from '../http/transport.ts';
import { Rest, withJitter, type ForUser } from './exchanges.ts';
import { fetchToken, type TokenAsk } from './fetch-token.ts';

/** An access token for one server. */
export interface AccessToken {
  readonly value: string;
  /** From then on it is not used, by `performance.now()`. */
  readonly until: number;
  readonly fetchedAt: number;
  /** The server has taken it. */
  hasWorked: boolean;
}

/** A token is used no longer than this, whatever its end. */
const MOST_MS = 3_600_000;
/** The same where its end is unknown. */
const DEFAULT_MS = 300_000;
/** It is used until this long before its end, or after four fifths of its time if that is later. */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;
/** A token that a server never took is not replaced sooner than this. */
const AGAIN_MS = 5000;

/** Gives the access token of one client for one server: one request at a time, and none while the endpoint rests. */
export class AccessTokens {
  readonly #ask: TokenAsk;
  readonly #transport: Transport;
  readonly #user: ForUser | undefined;
  readonly #rest = new Rest();
  #token: AccessToken | undefined;
  #fetching: Promise<AccessToken> | undefined;

  /** `resource`: the address of the server. `user`: the user that it is for. // RFC 8707 */
  constructor(auth: McpServerOAuth, resource: string, transport: Transport, user?: ForUser) {
    this.#ask = { auth, resource, subject: user?.subject };
    this.#user = user;
    this.#transport = transport;
  }

  get isAsked(): boolean {
    return this.#fetching !== undefined;
  }

  /** The token in force; a promise where it must be fetched, which rejects with `McpTokenFault`. */
  get(): AccessToken | Promise<AccessToken> {
    if (this.#token && performance.now() < this.#token.until) return this.#token;
    if (this.#fetching) return this.#fetching;
    const fault = this.#user?.exchanges.rest.fault ?? this.#rest.fault;
    if (fault) return Promise.reject(fault);
    this.#fetching = this.#fetch().finally(() => {
      this.#fetching = undefined;
    });
    return this.#fetching;
  }

  /** A server has refused a token. False: another one would be refused too, as far as is known. */
  refused(token: AccessToken): boolean {
    if (!token.hasWorked && performance.now() - token.fetchedAt < AGAIN_MS) return false;
    if (this.#token === token) this.#token = undefined;
    return true;
  }

  async #fetch(): Promise<AccessToken> {
    using _place = this.#user?.exchanges.enter();
    try {
      const { value, lifetimeMs = DEFAULT_MS } = await fetchToken(this.#ask, this.#transport);
      const fetchedAt = performance.now();
      const usedMs = usableMs(Math.min(lifetimeMs, MOST_MS));
      this.#rest.end();
      this.#user?.exchanges.worked();
      return (this.#token = { value, fetchedAt, until: fetchedAt + usedMs, hasWorked: false });
    } catch (thrown) {
      const fault = faultOf(thrown);
      const user = this.#user;
      const rest = user?.exchanges.isShared(fault, user) === true ? user.exchanges.rest : this.#rest;
      rest.begin(fault);
      throw fault;
    }
  }
}

/** How long a token is used that holds for so long. */
function usableMs(lifetimeMs: number): number {
  return withJitter(Math.max(lifetimeMs - MARGIN_MS, lifetimeMs * (1 - MARGIN_SHARE)));
}

/** Nothing of what the endpoint said: it may repeat what it was sent. */
function faultOf(thrown: unknown): McpTokenFault {
  if (thrown instanceof McpTokenFault) return thrown;
  if (!(thrown instanceof UpstreamFault)) throw thrown;
  const kind = thrown.kind === 'timeout' ? 'timeout' : thrown.kind === 'too_large' ? 'answer' : 'unreachable';
  return new McpTokenFault(kind, `no access token: ${thrown.kind}`);
}
