import { Agent, request, type Dispatcher } from 'undici';
import { Addresses, type Lookup } from './addresses.ts';

/** What the inference process answered. */
export interface Exchanged {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | string[] | undefined;
}

/** What it is sent. */
export type Sent = Pick<Dispatcher.RequestOptions, 'method' | 'onInfo'> & {
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array | string;
};

/** It gave no answer: it is not there (`absent`), cannot be reached, or took too long (`late`). */
export class NoExchange extends Error {
  override readonly name = 'NoExchange';
  readonly why: 'absent' | 'unreachable' | 'late';

  constructor(why: NoExchange['why'], options?: ErrorOptions) {
    super(why, options);
    this.why = why;
  }
}

interface ExchangeOptions {
  readonly connectTimeoutMs: number;
  readonly maxAnswerBytes: number;
  /** Where names lead; the system's resolver unless given. */
  readonly lookup?: Lookup;
}

/** What says that nothing was sent. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT']);
const BUSY: ReadonlySet<string> = new Set(['busy']);

/**
 * Requests to the inference process, or to a pool of them behind one name, each pod in its turn. Where one is busy another
 * is tried, once; where one cannot be connected to, the next. Nothing that was begun is tried again.
 */
export class Exchange {
  readonly #agent: Agent;
  readonly #addresses: Addresses;

  constructor({ connectTimeoutMs, maxAnswerBytes, lookup }: ExchangeOptions) {
    this.#addresses = new Addresses(lookup);
    this.#agent = new Agent({
      connect: { timeout: connectTimeoutMs },
      // The caller's is the only timeout: an answer begins when the work is done.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxResponseSize: maxAnswerBytes,
    });
  }

  /** A whole answer. Rejects with `NoExchange`, or with the signal's reason. */
  async ask(
    { url, path }: { readonly url: string | undefined; readonly path: string },
    sent: Sent,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<Exchanged> {
    signal.throwIfAborted();
    if (url === undefined) throw new NoExchange('absent');
    const late = AbortSignal.timeout(timeoutMs);
    const named = { ...sent, headers: { ...sent.headers, host: new URL(url).host } };
    try {
      return await this.#inTurn(await this.#addresses.of(url), path, named, AbortSignal.any([signal, late]));
    } catch (cause) {
      signal.throwIfAborted();
      throw new NoExchange(late.aborted ? 'late' : 'unreachable', { cause });
    }
  }

  async #inTurn(places: readonly string[], path: string, sent: Sent, signal: AbortSignal): Promise<Exchanged> {
    let busy: Exchanged | undefined;
    let fault: unknown;
    for (const place of places) {
      try {
        const answer = await this.#once(new URL(path, place), sent, signal);
        const isBusy = answer.status === 503 && faultIn(answer.text, BUSY) !== undefined;
        if (!isBusy || busy) return answer;
        busy = answer;
      } catch (thrown) {
        if (!NOT_CONNECTED.has((thrown as { code?: string }).code ?? '')) throw thrown;
        fault = thrown;
      }
    }
    if (busy) return busy;
    throw fault;
  }

  async #once(address: URL, sent: Sent, signal: AbortSignal): Promise<Exchanged> {
    const { statusCode, headers, body } = await request(address, { ...sent, dispatcher: this.#agent, signal });
    return { status: statusCode, text: await body.text(), retryAfter: headers['retry-after'] };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** What it says of a failure, `{fault: {kind, message}}`; undefined where it is of none of these kinds. */
export function faultIn<K extends string>(
  text: string,
  kinds: ReadonlySet<K>,
): { readonly kind: K; readonly message: string; readonly question: number | undefined } | undefined {
  try {
    const { fault } = JSON.parse(text) as { fault?: { kind?: unknown; message?: unknown; question?: unknown } };
    const { kind, message, question } = fault ?? {};
    if (!kinds.has(kind as K) || typeof message !== 'string') return undefined;
    return { kind: kind as K, message, question: typeof question === 'number' ? question : undefined };
  } catch {
    return undefined;
  }
}
