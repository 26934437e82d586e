import type { McpWorld } from './world.ts';

/** A message of a stream. */
export interface Told {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: { readonly content?: readonly { readonly text?: string }[]; readonly [other: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

/** An answer that may be a stream, read message by message. */
export interface OpenAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The next message; undefined: there are no more. */
  next(): Promise<Told | undefined>;
  /** Hangs up. */
  leave(): void;
}

/** Sends a request and does not wait for all of its answer. `message` absent: it has no body. */
export async function open(
  { gateway, key }: Pick<McpWorld, 'key'> & { readonly gateway: { readonly url: string } },
  path: string,
  message?: object,
  headers: Readonly<Record<string, string>> = {},
  method = 'POST',
): Promise<OpenAnswer> {
  const stop = new AbortController();
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      ...(message && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(message && { body: JSON.stringify(message) }),
    signal: stop.signal,
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const messages = isStream ? events(response) : whole(response);
  return {
    status: response.status,
    headers: response.headers,
    next: async () => {
      const { value, done } = await messages.next();
      return done === true ? undefined : value;
    },
    leave: () => stop.abort(),
  };
}

async function* whole(response: Response): AsyncGenerator<Told, undefined> {
  const text = await response.text();
  if (text !== '') yield JSON.parse(text) as Told;
  return undefined;
}

async function* events(response: Response): AsyncGenerator<Told, undefined> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    const all = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n\n');
    rest = all.pop()!;
    for (const event of all) {
      const data = event
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => line.slice(6))
        .join('\n');
      if (data !== '') yield JSON.parse(data) as Told;
    }
  }
  return undefined;
}
