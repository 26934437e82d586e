import type { SealedRow } from '#/ports/ledger.ts';
import type { OpenHold } from '#/ports/limit-counters.ts';

/**
 * Where the money of one call stands. Two facts decide: whether its hold is open, and whether its row is durable.
 *
 * - `none`: neither. Nothing was debited, or all of it was given back before there was anything to seal.
 * - `held`: debited at its worst case, and once the call is over at its cost; the call may be dispatched. The owner of the
 *   hold sees to its row.
 * - `sealed`: the row says what it cost, and the hold has to be closed at that.
 * - `settled`: the row is durable, the hold is closed. Released is settled at zero; abandoned is settled at the held
 *   amount. Nothing leads out of it.
 */
export type HoldState = 'none' | 'held' | 'sealed' | 'settled';

/** One thing that may happen to a call's money. */
interface HoldTransition {
  readonly from: HoldState;
  readonly to: HoldState;
  readonly by: 'meter' | 'ledger writer' | 'settler' | 'sweeper' | 'restorer' | 'counters';
  readonly what: string;
}

/**
 * Every transition there is; `test/contract/hold-states.test.ts` walks all of them in every order that crashes, lost
 * replies and take-overs can bring about, and finds no other. What repeats a transition changes nothing: a hold is
 * placed, a row written and a hold closed once a call id, however often it is asked for.
 */
const HOLD_TRANSITIONS: readonly HoldTransition[] = [
  { from: 'none', to: 'held', by: 'meter', what: 'every limit allows the worst case' },
  { from: 'held', to: 'held', by: 'meter', what: 'the call is over: the held amount is replaced by what it cost' },
  { from: 'held', to: 'sealed', by: 'ledger writer', what: 'the row of the owner is durable' },
  { from: 'held', to: 'sealed', by: 'sweeper', what: 'the owner died: the row says abandoned, at the held amount' },
  { from: 'sealed', to: 'settled', by: 'settler', what: 'the held amount is replaced by the cost of the row' },
  // Its row, if it has one, is that of a refusal, which costs nothing.
  { from: 'held', to: 'none', by: 'counters', what: 'the reply to the debit was lost: it is given back' },
  { from: 'settled', to: 'sealed', by: 'meter', what: 'a debit that was sent before arrives late: it is closed again' },
  // The store forgets. What it forgot is made good by the next restore.
  { from: 'held', to: 'none', by: 'counters', what: 'the store lost its data' },
  { from: 'sealed', to: 'settled', by: 'counters', what: 'the store lost its data' },
  { from: 'none', to: 'held', by: 'restorer', what: 'the owner still has the call in flight: put back' },
  { from: 'none', to: 'settled', by: 'ledger writer', what: 'the row of a call whose hold was lost' },
  { from: 'settled', to: 'sealed', by: 'restorer', what: 'put back by an owner who is about to settle it' },
];

/** The state that the two facts make. */
export function holdState(hold: OpenHold | undefined, row: SealedRow | undefined): HoldState {
  if (hold) return row ? 'sealed' : 'held';
  return row ? 'settled' : 'none';
}

/** Whether a call's money may go from one state to the other. */
export function mayFollow(from: HoldState, to: HoldState): boolean {
  return from === to || HOLD_TRANSITIONS.some((one) => one.from === from && one.to === to);
}
