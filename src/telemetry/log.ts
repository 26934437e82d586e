import { pino } from 'pino';
import type { EventAt, FactOf, LogEvent } from './log-events.ts';

/** The process log: JSON lines of constant event names and facts. Never bodies, headers, credentials or content. */
export type Log = {
  readonly [L in LogEvent['levels'][number]]: <const E extends EventAt<L>>(
    facts: { readonly event: E } & Readonly<Partial<Record<FactOf<E>, unknown>>>,
    text?: string,
  ) => void;
};

/** How much may be logged, from least to most but for `silent`. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/**
 * Opens the log on stdout. Errors are logged by name, code, status and place only: their texts may quote what they handled. Given
 * an error without a text, pino takes the error's, under whatever name it finds it: it is told to find none.
 */
export function createLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    errorKey: 'no member has this name',
    hooks: {
      logMethod([first, ...others], method) {
        const facts: unknown = first;
        method.apply(this, [facts instanceof Error ? { err: facts } : first, ...others] as Parameters<typeof method>);
      },
    },
    serializers: { err: errorFacts, error: errorFacts, reason: errorFacts },
  });
}

/** How many causes of an error are told, one behind the other. */
const MOST_CAUSES = 5;
const MOST_FRAMES = 5;
/** Names and codes are words that were written in a program. */
const WORD = /^[\w.-]{1,64}$/;
const FRAME = '    at ';
const FOLDERS = 3;
const PATH = /^[\w@.-][\w@./-]*$/;
const DIGITS = /^\d{1,9}$/;

/** What may be said of an error in a log, and of a thrown value that is none. */
export function errorFacts(error: unknown, depth = 0): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, cause } = error;
  const { code, status } = error as { code?: unknown; status?: unknown };
  const at = framesOf(error);
  return {
    type: WORD.test(name) ? name : 'Error',
    ...(typeof code === 'string' && WORD.test(code) && { code }),
    ...(Number.isInteger(status) && { status }),
    ...(at.length > 0 && { at }),
    ...(cause !== undefined && depth < MOST_CAUSES && { cause: errorFacts(cause, depth + 1) }),
  };
}

/** Where it was thrown, without the text that a stack begins with: a text can look like a stack. */
function framesOf({ stack, message }: Error): readonly string[] {
  if (typeof stack !== 'string' || typeof message !== 'string') return [];
  const text = stack.indexOf(message);
  if (text < 0) return [];
  const lines = stack.slice(text + message.length, text + message.length + 4000).split('\n', MOST_FRAMES + 1);
  return lines.flatMap((line) => placeOf(line) ?? []);
}

/** File and line of a frame, with the last folders of its path: `src/telemetry/log.ts:35`. */
function placeOf(line: string): string | undefined {
  if (!line.startsWith(FRAME)) return undefined;
  const from = Math.max(line.lastIndexOf('('), line.lastIndexOf(' ')) + 1;
  const parts = (line.endsWith(')') ? line.slice(from, -1) : line.slice(from)).split(':');
  const [path = '', row = '', column = ''] = parts.slice(-3);
  const file = path
    .split('/')
    .slice(-1 - FOLDERS)
    .join('/');
  return DIGITS.test(row) && DIGITS.test(column) && PATH.test(file) ? `${file}:${row}` : undefined;
}

/** Has an error that was not caught end the process with a line that says where, and not what it quotes. */
export function logUncaught(log: Log): void {
  const end = (error: unknown): void => {
    log.fatal({ event: 'process.failed', err: error });
    process.exit(1);
  };
  process.on('uncaughtException', end).on('unhandledRejection', end);
}
