import { request, type Agent, type Dispatcher } from 'undici';

/** What the inference process answered. */
export interface Exchanged {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | string[] | undefined;
}

/** What it is sent. */
export type Sent = Pick<Dispatcher.RequestOptions, 'method'> & {
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

/** One request and its whole answer. Rejects with `NoExchange`, or with the signal's reason. Nothing is tried twice. */
export async function exchange(
  agent: Agent,
  address: { readonly url: string | undefined; readonly path: string },
  sent: Sent,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<Exchanged> {
  signal.throwIfAborted();
  if (address.url === undefined) throw new NoExchange('absent');
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const { statusCode, headers, body } = await request(new URL(address.path, address.url), {
      ...sent,
      dispatcher: agent,
      signal: AbortSignal.any([signal, late]),
    });
    return { status: statusCode, text: await body.text(), retryAfter: headers['retry-after'] };
  } catch (cause) {
    signal.throwIfAborted();
    throw new NoExchange(late.aborted ? 'late' : 'unreachable', { cause });
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
