import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { median, ratiosOf, round, type Measure } from './measures.ts';

/** A stored measure: its ratio is the budget, the rest says how it came about. */
interface Budget {
  readonly ratio: number;
  readonly unit: string;
  readonly bare: number;
  readonly governed: number;
  /** Day, Node.js, processors and load average. */
  readonly stored: string;
}

export type Budgets = Readonly<Record<string, Budget>>;

const FILE = new URL('./budgets.json', import.meta.url);
/** So much above its budget a ratio may be. */
const SLACK = 0.05;
/** So many of its pairs must be above the budget, too: one slow moment of the machine does not count. */
const SHARE = 0.75;

/** What `budgets.json` says. */
export function readBudgets(): Budgets {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Budgets;
}

/** One line for each measure whose ratio is over its budget, or that has none. Gains are ratios far below theirs. */
export function judge(measures: readonly Measure[], budgets: Budgets): { faults: string[]; gains: string[] } {
  const faults: string[] = [];
  const gains: string[] = [];
  for (const one of measures) {
    if (!one.budgeted) continue;
    const budget = budgets[one.name];
    const ratios = ratiosOf(one);
    const now = median(ratios);
    if (budget === undefined) {
      faults.push(`${one.name}: no budget is stored, now ${round(now)}; store it with BENCH_STORE=1`);
      continue;
    }
    // A ratio of NaN is not within its budget.
    const above = ratios.filter((ratio) => !(ratio <= budget.ratio)).length / ratios.length;
    const said = `${one.name}: governed to bare, stored ${budget.ratio}, now ${round(now)}`;
    if (!(now <= budget.ratio * (1 + SLACK)) && above >= SHARE) faults.push(said);
    else if (now < budget.ratio * (1 - SLACK)) gains.push(said);
  }
  return { faults, gains };
}

/** Writes the ratios of these measures into `budgets.json` where BENCH_STORE is set, else judges them: false over budget. */
export function keepBudgets(measures: readonly Measure[]): boolean {
  const budgets = readBudgets();
  if (process.env['BENCH_STORE']) {
    const load = loadavg().map(round).join(', ');
    const [processor] = cpus();
    const stored = `${new Date().toISOString().slice(0, 10)}, Node.js ${process.versions.node}, ${cpus().length} × ${processor?.model}, load average ${load}`;
    const fresh = measures.filter(({ budgeted }) => budgeted).map((one) => [one.name, budgetOf(one, stored)] as const);
    writeFileSync(FILE, `${JSON.stringify({ ...budgets, ...Object.fromEntries(fresh) }, null, 2)}\n`);
    console.log(`Stored ${fresh.length} budgets in test/bench/budgets.json`);
    return true;
  }
  const { faults, gains } = judge(measures, budgets);
  for (const gain of gains) console.log(`under budget: ${gain} (store it with BENCH_STORE=1)`);
  for (const fault of faults) console.error(`over budget: ${fault}`);
  return faults.length === 0;
}

function budgetOf(one: Measure, stored: string): Budget {
  const ratio = round(median(ratiosOf(one)));
  return { ratio, unit: one.unit, bare: round(median(one.bare)), governed: round(median(one.governed)), stored };
}
