import type { ChildProcess } from 'node:child_process';

/** Whether a process has ended, by itself or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
