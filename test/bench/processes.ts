import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A program of this folder as its own process. */
export interface Program {
  readonly port: number;
  readonly pid: number;
  stop(): void;
}

/** Starts a program that prints its port as its first line, with these flags of Node.js. */
export async function startProgram(file: string, args: readonly string[] = [], flags: readonly string[] = []) {
  const child: ChildProcess = spawn(process.execPath, [...flags, new URL(file, import.meta.url).pathname, ...args], {
    // An inspector writes its address there, which is not part of the figures.
    stdio: ['ignore', 'pipe', flags.length > 0 ? 'ignore' : 'inherit'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout!.once('data', (line: Buffer) => resolve(Number(line.toString('utf8').trim())));
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}`)));
  });
  const program: Program = { port, pid: child.pid!, stop: () => void child.kill('SIGKILL') };
  return program;
}

/** CPU time that a process and its threads have used, microseconds. */
export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1000;
}

/** Resident memory of a process, bytes. */
export function residentBytes(pid: number): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}

/** A process and all that it has started and that still run. */
export function familyOf(pid: number): readonly number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap((child) => familyOf(child))];
}

/** The name of a program, of at most 15 characters. */
export function programOf(pid: number): string {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}
