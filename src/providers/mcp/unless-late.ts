import { UpstreamFault } from '#/ports/provider.ts';

/**
 * The result of work that others wait for, too. Rejects with an `UpstreamFault` that says that nothing was sent once this
 * request stops waiting. `until`: by `performance.now()`.
 */
export async function unlessLate<T>(work: Promise<T>, signal: AbortSignal, until: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (fault: UpstreamFault): void => {
    fault.sent = false;
    reject(fault);
  };
  const onLate = (): void => stop(new UpstreamFault('timeout', 'the server did not answer in time'));
  const onAbort = (): void => {
    if (isTimeout(signal.reason)) onLate();
    else stop(new UpstreamFault('aborted', 'the request was aborted'));
  };
  const timer = setTimeout(onLate, Math.max(1, until - performance.now()));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    work.catch(() => undefined);
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === 'TimeoutError';
}
