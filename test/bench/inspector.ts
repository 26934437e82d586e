/** The inspector of a running process: what it says of itself, from inside. It does not end before it is closed. */
export interface Inspector {
  ask(method: string, params?: object): Promise<unknown>;
  /** Runs an expression in the process and resolves with its value. Rejects with what it threw. */
  evaluate<T>(expression: string): Promise<T>;
  close(): void;
}

/** The inspector of a process that was started with `--inspect=127.0.0.1:<port>`. */
export async function inspectorAt(port: number): Promise<Inspector> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [target] = (await answer.json()) as { readonly webSocketDebuggerUrl: string }[];
  if (target === undefined) throw new Error(`no inspector at port ${port}`);
  return connectInspector(target.webSocketDebuggerUrl);
}

async function connectInspector(address: string): Promise<Inspector> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${address}`)));
  });
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error } = JSON.parse(String(data)) as Answer;
    if (error) waiting.get(id)?.reject(new Error(error.message));
    else waiting.get(id)?.resolve(result);
    waiting.delete(id);
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process ended while it was asked'));
    waiting.clear();
  });
  let last = 0;
  const ask = (method: string, params = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  return {
    ask,
    evaluate: async <T>(expression: string) => {
      const params = { expression, returnByValue: true, awaitPromise: true };
      const { result, exceptionDetails } = (await ask('Runtime.evaluate', params)) as Evaluated;
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value as T;
    },
    close: () => socket.close(),
  };
}

interface Answer {
  readonly id: number;
  readonly result: unknown;
  readonly error?: { readonly message: string };
}

interface Evaluated {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
}
