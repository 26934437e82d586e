import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One metric of a run, or of those of its samples that have the labels in its name. */
export interface K6Metric {
  /** Of a counter. */
  readonly count?: number;
  /** Of a rate: how many samples were true. */
  readonly passes?: number;
  /** Of a rate: how many samples were false. */
  readonly fails?: number;
  /** Condition -> whether it was crossed. */
  readonly thresholds?: Readonly<Record<string, boolean>>;
}

/** What a run of k6 came to. */
export interface K6Run {
  /** 0: every threshold held; 99: one was crossed. */
  readonly code: number | null;
  /** By name, with labels as in thresholds: `gw_errors{client:0}`. */
  readonly metrics: Readonly<Record<string, K6Metric>>;
  /** Conditions that were crossed, as `metric: condition`. */
  readonly crossed: readonly string[];
  /** What it printed. */
  readonly output: string;
}

const ROOT = new URL('../../', import.meta.url).pathname;
const K6 = join(ROOT, '.tools/bin/k6');

/** Runs a script of test/load to its end. Rejects where k6 is not built or did not get as far as a summary. */
export async function runK6(script: string, env: Readonly<Record<string, string>>): Promise<K6Run> {
  if (!existsSync(K6)) throw new Error('k6 is not there: `make tools` builds it, or says what is missing');
  const folder = mkdtempSync(join(tmpdir(), 'gatewarden-k6-'));
  try {
    const summary = join(folder, 'summary.json');
    const { code, output } = await end(
      [
        'run',
        '--quiet',
        '--no-color',
        '--no-usage-report',
        '--address',
        '127.0.0.1:0',
        '--summary-export',
        summary,
        script,
      ],
      { PATH: process.env['PATH'], HOME: folder, ...env },
    );
    if (!existsSync(summary)) throw new Error(`k6 ended with ${code} and without a summary:\n${output}`);
    const { metrics } = JSON.parse(readFileSync(summary, 'utf8')) as Pick<K6Run, 'metrics'>;
    const crossed = Object.entries(metrics).flatMap(([name, { thresholds = {} }]) =>
      Object.entries(thresholds).flatMap(([condition, failed]) => (failed ? [`${name}: ${condition}`] : [])),
    );
    return { code, metrics, crossed, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function end(args: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn(K6, args, { cwd: join(ROOT, 'test/load'), env, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = (): boolean => child.kill('SIGKILL');
  process.once('exit', kill);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('exit', kill);
      resolve({ code, output });
    });
  });
}
