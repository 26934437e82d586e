import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ModelFault } from '../../inference/decide/manifest.ts';
import { evaluateAgents } from './agents.ts';
import { evaluateDetectors } from './detectors.ts';
import type { Evaluation, Evaluator, Places, Table } from './evaluation.ts';
import { GOALS, judged } from './goals.ts';
import { evaluateLogins } from './logins.ts';
import { evaluateNames } from './names.ts';
import { evaluatePresidio } from './presidio.ts';
import { evaluateRouter } from './router.ts';
import { evaluateScope } from './scope.ts';
import { rounded } from './score.ts';
import { evaluateTyped } from './typed.ts';

/**
 * What each model is worth on texts that it was not trained on, beside a simple baseline, with the time that it takes.
 * `make eval`, or `node test/eval/eval.ts [--data DIR] [--models DIR] [--only names,typed]`; the runtime is the one
 * that users get. A model that is not there is said to be missing, and fails the run; so does a bound that is broken, after
 * all is written. `--presidio FILE` adds what all of inspection finds in the sentences of presidio-research.
 */
const EVALUATORS: Readonly<Record<string, Evaluator>> = {
  detectors: evaluateDetectors,
  logins: evaluateLogins,
  names: evaluateNames,
  router: evaluateRouter,
  typed: evaluateTyped,
  scope: evaluateScope,
  agents: evaluateAgents,
};

const root = path.join(import.meta.dirname, '../..');
const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: path.join(root, '../shared/data') },
    models: { type: 'string', default: path.join(root, 'inference/models') },
    out: { type: 'string', default: path.join(root, 'eval-results/latest.json') },
    presidio: { type: 'string' },
    only: { type: 'string', default: Object.keys(EVALUATORS).join(',') },
  },
});

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function print({ title, rows }: Table): void {
  const [first] = rows;
  if (!first) return;
  const columns = Object.keys(first);
  const cells = [columns, ...rows.map((row) => columns.map((column) => String(row[column] ?? '')))];
  const widths = columns.map((_, at) => Math.max(...cells.map((row) => (row[at] ?? '').length)));
  say(`\n${title}`);
  for (const row of cells) {
    const line = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)));
    say(`  ${line.join('  ')}`);
  }
}

const places: Places = { data: options.data, own: path.join(root, 'inference/training/data'), models: options.models };
const { presidio } = options;
const evaluators: Readonly<Record<string, Evaluator>> = {
  ...EVALUATORS,
  ...(presidio !== undefined && { presidio: (at: Places) => evaluatePresidio(presidio, at) }),
};
/** Of a minute, before each evaluation: what is more than there are processors makes clocks tell more than the processor's time. */
const load: number[] = [];
const results: Record<string, Evaluation & { readonly missed: readonly string[] }> = {};
const broken: string[] = [];
for (const name of [...options.only.split(','), ...(presidio === undefined ? [] : ['presidio'])]) {
  const evaluate = evaluators[name];
  if (!evaluate) throw new Error(`nothing is called ${name}: there are ${Object.keys(EVALUATORS).join(', ')}`);
  say(`\n== ${name}`);
  load.push(rounded(os.loadavg()[0] ?? 0));
  try {
    const { evaluation, goals, missed, broken: failing } = judged(await evaluate(places), GOALS[name] ?? []);
    for (const [what, value] of Object.entries(evaluation.about)) say(`${what}: ${value}`);
    for (const table of evaluation.tables) print(table);
    say(`\nGoals: ${goals - missed.length} of ${goals} met`);
    for (const what of missed) say(`  missed: ${what}`);
    broken.push(...failing.map((what) => `${name}: ${what}`));
    results[name] = { ...evaluation, missed };
  } catch (fault) {
    if (!(fault instanceof ModelFault)) throw fault;
    say(fault.message);
    process.exitCode = 1;
  }
}
const machine = { node: process.version, cpu: os.cpus()[0]?.model ?? '', cpus: os.cpus().length, load };
say(`\nOn ${machine.cpus} of ${machine.cpu}; processes that ran or waited, on average: ${load.join(', ')}`);
mkdirSync(path.dirname(options.out), { recursive: true });
writeFileSync(
  options.out,
  `${JSON.stringify({ at: new Date().toISOString(), machine, broken, ...results }, null, 2)}\n`,
);
say(`\nWritten to ${path.relative(process.cwd(), options.out)}`);
for (const what of broken) say(`Bound broken: ${what}`);
if (broken.length > 0) process.exitCode = 1;
