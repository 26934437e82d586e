import { readFileSync } from 'node:fs';

/** Of a second, in which the system counts the time of processes. */
const TICKS = 100;

/** Milliseconds of processor's time that processes have taken so far, their ended threads included. */
export function cpuOf(...processes: readonly { readonly pid: number }[]): number {
  return processes.reduce((sum, { pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return sum + ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
  }, 0);
}
