import { McpTokenFault, type McpTokenFaultKind } from '#/ports/mcp-servers.ts';

/** After a failure the token endpoint rests: twice as long each time. */
const FIRST_REST_MS = 1000;
const MOST_REST_MS = 60_000;
/** Exchanges for the users of one server that are under way at once. */
const MOST_EXCHANGES = 64;
/** Gateways and users that failed at the same time do not ask at the same time again. */
const JITTER_SHARE = 0.1;
/** Failures that the token of one user alone may cause, too. */
const OF_ENDPOINT: ReadonlySet<McpTokenFaultKind> = new Set(['unreachable', 'timeout']);
/** So many persons in a row that fail so say that it is the endpoint. */
const PERSONS = 3;

/** How long a token endpoint is left alone after its failures. */
export class Rest {
  #failures = 0;
  #fault: McpTokenFault | undefined;
  #until = 0;

  /** The last failure, while it is to be left alone. */
  get fault(): McpTokenFault | undefined {
    const leftMs = this.#until - performance.now();
    return this.#fault && leftMs > 0 ? this.#fault.again(leftMs) : undefined;
  }

  /** Failures of requests that were under way together count once. */
  begin(fault: McpTokenFault): void {
    if (this.fault) return;
    const restMs = Math.min(MOST_REST_MS, FIRST_REST_MS * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    this.#fault = fault;
    this.#until = performance.now() + Math.min(MOST_REST_MS, Math.max(fault.retryAfterMs ?? 0, withJitter(restMs)));
  }

  end(): void {
    this.#failures = 0;
    this.#fault = undefined;
  }
}

/** What the users of one server share: few exchanges at once, and a rest where the endpoint fails for all of them. */
export class Exchanges {
  readonly rest = new Rest();
  /** Persons whose tokens were not exchanged since one was. */
  readonly #failing = new Set<string>();
  #underWay = 0;

  /** Whether a failure is one for all users: no one person can have the endpoint left alone for the others. */
  isShared({ kind }: McpTokenFault, { person }: ForUser): boolean {
    if (!OF_ENDPOINT.has(kind)) return kind === 'refused';
    this.#failing.add(person);
    return this.#failing.size >= PERSONS;
  }

  /** The endpoint has exchanged a token. */
  worked(): void {
    this.#failing.clear();
    this.rest.end();
  }

  /** The place of one exchange. Throws where there is no place. */
  enter(): Disposable {
    if (this.#underWay >= MOST_EXCHANGES)
      throw new McpTokenFault('busy', `${MOST_EXCHANGES} access tokens of users are being exchanged`);
    this.#underWay += 1;
    return { [Symbol.dispose]: () => void (this.#underWay -= 1) };
  }
}

/** The user that a server is asked for. */
export interface ForUser {
  /** The access token of the user. */
  readonly subject: string;
  /** Whose it is, whatever other tokens that person has. */
  readonly person: string;
  readonly exchanges: Exchanges;
}

/** A time, shortened by chance. */
export function withJitter(ms: number): number {
  return ms * (1 - Math.random() * JITTER_SHARE);
}
