import type { OpenHold, SpendTotals } from '#/ports/limit-counters.ts';

export type CallState =
  | 'new'
  | 'held'
  | 'cleared' // by the fence
  | 'row sent'
  | 'sealed'
  | 'refused'
  | 'reply lost' // the client was told 503
  | 'refusal sealed'
  | 'done';

/** What a process that took a hold over still has to do. */
export type Task =
  | { readonly hold: OpenHold; step: 'look' | 'abandon' | 'look again' }
  | { step: 'settle'; cost: bigint };

export interface Process {
  readonly name: string;
  alive: boolean;
  /** Its lease holds. */
  leased: boolean;
  calls: Map<string, CallState>;
  open: Map<string, OpenHold>;
  tasks: Map<string, Task>;
  /** Holds that were placed, perhaps, although their caller was told that they were not. */
  orphans: Set<string>;
  /** Calls whose holds were another's for a while: their row may be too. */
  contested: Set<string>;
  wantsRestore: boolean;
}

export type Message = {
  readonly kind: 'hold' | 'give-back' | 'settle' | 'row';
  readonly callId: string;
  readonly from: string;
};

export interface Restoring {
  readonly by: string;
  readonly over: Promise<unknown>;
  readonly open: readonly OpenHold[];
  totals: SpendTotals | undefined;
  readonly resume: (totals: SpendTotals) => void;
  readonly giveUp: (error: Error) => void;
}

/** A process that lives, and has nothing to do. */
export function newProcess(name: string): Process {
  return {
    name,
    alive: true,
    leased: true,
    calls: new Map(),
    open: new Map(),
    tasks: new Map(),
    orphans: new Set(),
    contested: new Set(),
    wantsRestore: false,
  };
}
