import type { Evaluation, Table } from './evaluation.ts';

/** A figure that is to be reached. */
export interface Goal {
  readonly table: string;
  /** What stands in the row's columns; without it every row of the table has the goal. */
  readonly row?: Readonly<Record<string, string>>;
  readonly column: string;
  /** Exactly one of both. */
  readonly least?: number;
  readonly most?: number;
  /** To break it fails the run. */
  readonly isBound?: true;
}

/** An evaluation whose tables say what is to be reached and whether it is, and what of that is not. */
export interface Judgement {
  readonly evaluation: Evaluation;
  readonly goals: number;
  readonly missed: readonly string[];
  /** Those of `missed` that fail the run. */
  readonly broken: readonly string[];
}

const TIMES = 'Milliseconds';
/** What no answer of a local model takes longer than. // spec 8: typed latency budget */
const NEVER_LONGER: Goal = { table: TIMES, column: 'cpuMost', most: 10_000, isBound: true };
const PERSONAL = 'Personal data, exact to the character (synth_eu.dev)';
/** What decision 0033 allows a model's folder. */
const MOST_MB = 30;
const SMALL: Goal = { table: 'In short', row: { by: 'model' }, column: 'MB', most: MOST_MB };

function f1(least: number, ...kinds: readonly string[]): readonly Goal[] {
  return kinds.map((kind) => ({ table: PERSONAL, row: { kind }, column: 'f1', least }));
}

function answers(group: string, column: string, least: number, ece: number): readonly Goal[] {
  const of = { table: 'Answers', row: { group } };
  return [
    { ...of, column, least },
    { ...of, column: 'ece', most: ece },
  ];
}

function processor(what: string, column: string, most: number): Goal {
  return { table: TIMES, row: { what }, column, most, isBound: true };
}

/**
 * By evaluator. Times are bounds, of the processor's time: a model that breaks them does not do what is promised.
 * Qualities are aims, some of them not reached, and are printed only.
 */
export const GOALS: Readonly<Record<string, readonly Goal[]>> = {
  detectors: [
    ...f1(0.99, 'EMAIL', 'IBAN', 'CREDIT_CARD', 'IP_ADDRESS'),
    ...f1(0.97, 'NATIONAL_ID'),
    ...f1(0.95, 'PHONE', 'SECRET'),
    ...f1(0.93, 'DATE_OF_BIRTH'),
    ...f1(0.85, 'VAT_ID', 'LICENSE_PLATE', 'PASSPORT'),
    { table: 'Examples of detectors', column: 'f1', least: 1, isBound: true },
    { table: 'Texts without any', column: 'perThousand', most: 3 },
    { table: 'Credentials', row: { kind: 'all' }, column: 'recall', least: 0.9 },
    { table: TIMES, column: 'p50', most: 0.3 },
    { table: TIMES, column: 'p99', most: 1 },
  ],
  logins: [
    { table: 'Logins and passwords in sentences', column: 'recall', least: 0.9 },
    { table: 'Prompts that only speak of them', column: 'wrongPerThousandWords', most: 1, isBound: true },
  ],
  names: [
    SMALL,
    {
      table: 'Names, exact to the character',
      row: { corpus: 'synth_eu', kind: 'PERSON_NAME' },
      column: 'f1',
      least: 0.85,
    },
    {
      table: 'Names, exact to the character',
      row: { corpus: 'germeval', kind: 'PERSON_NAME' },
      column: 'f1',
      least: 0.6,
    },
    processor('inspection of 2 KiB', 'cpuP50', 15),
    NEVER_LONGER,
  ],
  router: [
    { table: 'In short', row: { head: 'task', by: 'model' }, column: 'MB', most: MOST_MB },
    { table: 'In short', row: { head: 'task', by: 'model' }, column: 'accuracy', least: 0.8 },
    { table: 'In short', row: { head: 'task', by: 'model' }, column: 'ece', most: 0.05 },
    { table: 'In short', row: { head: 'reasoning', by: 'model' }, column: 'auc', least: 0.91 },
    { table: 'In short', row: { head: 'complexity', by: 'model' }, column: 'accuracy', least: 0.65 },
    { table: 'In short', row: { head: 'complexity', by: 'model' }, column: 'withinOne', least: 0.96 },
    processor('prompts as they are', 'cpuP95', 60),
    processor('prompts of hundreds of words', 'cpuP95', 60),
    NEVER_LONGER,
  ],
  typed: [
    SMALL,
    ...answers('clinc150: choice', 'accuracy', 0.93, 0.08),
    ...answers('clinc150 unseen: choice', 'accuracy', 0.72, 0.15),
    ...answers('nlupp: noul', 'auc', 0.93, 0.08),
    ...answers('snli: noul', 'auc', 0.85, 0.08),
    ...answers('snli: choice', 'accuracy', 0.68, 0.08),
    ...answers('synth_support: choice', 'accuracy', 0.75, 0.08),
    ...answers('synth_support: noul', 'auc', 0.88, 0.08),
    ...answers('synth_support: score', 'accuracy', 0.65, 0.08),
    processor('16 questions, 150 words', 'cpuP95', 2000),
    processor('16 questions, 384 words', 'cpuP95', 2000),
    NEVER_LONGER,
  ],
  scope: [NEVER_LONGER],
  agents: [
    { table: 'Replaced in instructions of agents', column: 'wrongPerThousandWords', most: 1, isBound: true },
    { table: 'Replaced in instructions of agents', column: 'missed', most: 0, isBound: true },
  ],
  presidio: [{ table: 'Words of presidio-research, personal or not', column: 'f2', least: 0.75 }],
};

/** Judges an evaluation. A goal without a figure is missed: it may be that a table is called something else now. */
export function judged(evaluation: Evaluation, goals: readonly Goal[]): Judgement {
  const missed: string[] = [];
  const broken: string[] = [];
  let count = 0;
  const miss = (what: string, { isBound }: Goal): void => {
    missed.push(what);
    if (isBound) broken.push(what);
  };
  for (const goal of goals) {
    const rows = evaluation.tables.find(({ title }) => title === goal.table)?.rows ?? [];
    const own = rows.filter((row) => isOf(goal, row));
    count += Math.max(1, own.length);
    if (own.length === 0) miss(`${goal.table}, ${said(goal)}: no figure`, goal);
    for (const row of own) {
      if (!isMet(goal, row)) miss(`${goal.table}, ${nameOf(row)}: ${said(goal)}, is ${row[goal.column] ?? ''}`, goal);
    }
  }
  const tables = evaluation.tables.map((table) => marked(table, goals));
  return { evaluation: { ...evaluation, tables }, goals: count, missed, broken };
}

function marked(table: Table, all: readonly Goal[]): Table {
  const goals = all.filter((goal) => goal.table === table.title);
  if (goals.length === 0) return table;
  const rows = table.rows.map((row) => {
    const own = goals.filter((goal) => isOf(goal, row));
    return {
      ...row,
      goal: own.map(said).join(', '),
      is: own.map((goal) => (isMet(goal, row) ? 'met' : 'missed')).join(', '),
    };
  });
  return { ...table, rows };
}

function isOf({ row: wanted = {} }: Goal, row: Table['rows'][number]): boolean {
  return Object.entries(wanted).every(([column, value]) => row[column] === value);
}

function isMet({ column, least = -Infinity, most = Infinity }: Goal, row: Table['rows'][number]): boolean {
  const figure = row[column];
  return typeof figure === 'number' && figure >= least && figure <= most;
}

function said({ column, least, most }: Goal): string {
  return least === undefined ? `${column} ≤ ${most}` : `${column} ≥ ${least}`;
}

/** What stands in a row before its first figure. */
function nameOf(row: Table['rows'][number]): string {
  const values = Object.values(row);
  const first = values.findIndex((value) => typeof value === 'number');
  return values.slice(0, first === -1 ? values.length : first).join(' ');
}
