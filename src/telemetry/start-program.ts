import { createLog, logUncaught, type Log } from './log.ts';

/** The settings of a program, or every fault in its environment. */
type ReadSettings<S> = { readonly settings: S } | { readonly faults: readonly string[] };

/**
 * Runs a program with the settings that were read. Faults in them go to stderr and end the process with 2; a start that
 * fails is logged, with what `tell` says of the error, and ends it with 1. Told to end before the program listens for that,
 * it ends at once: the first process of a container is not ended by a signal that it does not take.
 */
export async function startProgram<S extends { readonly logLevel: string }>(
  read: ReadSettings<S>,
  run: (settings: S, log: Log) => Promise<void>,
  tell?: (error: unknown) => string,
): Promise<void> {
  if ('faults' in read) {
    for (const fault of read.faults) process.stderr.write(`settings: ${fault}\n`);
    process.exit(2);
  }
  const early = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) === 1) process.exit(0);
  };
  process.on('SIGTERM', early).on('SIGINT', early);
  const log = createLog(read.settings.logLevel);
  logUncaught(log);
  try {
    await run(read.settings, log);
  } catch (error) {
    log.fatal({ event: 'start.failed', err: error }, tell?.(error));
    process.exit(1);
  }
}

/**
 * The text of a start that failed: system errors by their code, without paths or addresses of secrets; those of the
 * language by their name, as they quote what was read; our own by their text.
 */
export function startFailure(error: unknown): string {
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  if (typeof code === 'string') return `could not start: ${code}`;
  const isOfLanguage = error instanceof SyntaxError || error instanceof TypeError || error instanceof RangeError;
  return `could not start: ${String(isOfLanguage ? name : message)}`;
}
