import type { AnchorStore, Checkpoint, CheckpointStore } from '#/ports/checkpoints.ts';
import { canonicalJson } from '#/wire/document/canonical-json.ts';
import { signedStatement, type SignedStatement } from '../export/proof.ts';
import type { AnchoredStatements } from '../verify/checkpoint-check.ts';

export interface AnchorerDeps {
  readonly checkpoints: Pick<CheckpointStore, 'checkpoints' | 'heads'>;
  readonly store: AnchorStore;
  /** Every how many checkpoints one is copied: each stands for those before it too. */
  readonly every: number;
  readonly onFault: (error: unknown) => void;
}

/** Copies checkpoints to where the database's writers cannot change them. Nothing waits for it. */
export interface Anchorer {
  /**
   * Copies checkpoints that are missing since the last run. Never rejects: the next run begins where this one failed.
   */
  run(): Promise<void>;
  start(): void;
  stop(): void;
  /** How many checkpoints there were after the last copy when last looked at; -1 before that. */
  readonly lag: number;
}

const EVERY_MS = 60_000;
/** How far back the last copy is looked for at first, before all of them are listed. */
const LOOK_BACK = [1_000, 100_000];

export function createAnchorer(deps: AnchorerDeps): Anchorer {
  const { checkpoints, store, every, onFault } = deps;
  let timer: NodeJS.Timeout | undefined;
  let last: number | undefined;
  let lag = -1;
  let running: Promise<void> | undefined;
  const copy = async (): Promise<void> => {
    try {
      last ??= await lastAnchored(deps);
      let behind = 0;
      for await (const checkpoint of checkpoints.checkpoints(last)) {
        lag = Math.max(lag, (behind += 1));
        if (checkpoint.number % every !== 0) continue;
        await store.put(recordOf(checkpoint));
        last = checkpoint.number;
        behind = 0;
      }
      lag = behind;
    } catch (error) {
      onFault(error);
    }
  };
  const run = (): Promise<void> => (running ??= copy().finally(() => (running = undefined)));
  return {
    run,
    start() {
      timer = setInterval(() => void run(), EVERY_MS).unref();
      void run();
    },
    stop() {
      clearInterval(timer);
    },
    get lag() {
      return lag;
    },
  };
}

/** The highest number that was copied; 0 without any copy. */
async function lastAnchored({ checkpoints, store }: AnchorerDeps): Promise<number> {
  const newest = (await checkpoints.heads()).last?.number ?? 0;
  for (const back of [...LOOK_BACK, newest]) {
    let last = 0;
    for await (const number of store.numbers(Math.max(0, newest - back))) last = number;
    if (last > 0) return Math.min(last, newest);
  }
  return 0;
}

/** Copies every checkpoint of which there is no copy. Resolves with their number. Rejects at the first that fails. */
export async function anchorMissing({ checkpoints, store, every }: Omit<AnchorerDeps, 'onFault'>): Promise<number> {
  const there = new Set<number>();
  for await (const number of store.numbers(0)) there.add(number);
  let put = 0;
  for await (const checkpoint of checkpoints.checkpoints()) {
    if (checkpoint.number % every !== 0 || there.has(checkpoint.number)) continue;
    await store.put(recordOf(checkpoint));
    put += 1;
  }
  return put;
}

/** Copied statements by number: all versions ever written, so that overwriting them does not help. */
export async function anchoredStatements(store: AnchorStore): Promise<AnchoredStatements> {
  const statements = new Map<number, string[]>();
  for await (const { number, body } of store.records()) {
    const list = statements.get(number);
    if (list) list.push(statementIn(body));
    else statements.set(number, [statementIn(body)]);
  }
  return statements;
}

function recordOf(checkpoint: Checkpoint): { readonly number: number; readonly body: string } {
  return { number: checkpoint.number, body: canonicalJson(signedStatement(checkpoint)) };
}

/** Of something that is no copy of a checkpoint, a text that no checkpoint has. */
function statementIn(body: string): string {
  try {
    return String((JSON.parse(body) as Partial<SignedStatement>).statement);
  } catch {
    return '';
  }
}
