/** Where the automatic alias would send a request, by its text alone. // spec 4.4.3, design 11 */
export interface RouterDecision {
  readonly route: 'fast' | 'balanced' | 'reasoning';
  readonly demand: 'low' | 'medium' | 'high';
}

/** What the rule goes by: calibrated probabilities. */
export interface RouterProbabilities {
  readonly reasoning: number;
  /** Of the levels 0 to 3. */
  readonly complexity: readonly number[];
}

/** A demand is told when it is likelier than all others together. */
const DEMAND_SURE = 0.5;
/** Whether reasoning is needed is told when one answer is half as likely again as the other. */
const REASONING_SURE = 0.6;

/**
 * The rule. Demand is `low` for levels 0 and 1, `medium` for 2, `high` for 3: the likeliest of the three. A request that
 * needs reasoning goes to `reasoning`; any other of low demand to `fast`, the rest to `balanced`. Null, the router
 * abstains, where either is not sure enough. Since probabilities are calibrated, a bound is what it says: of the demands
 * that are told, at least half are right.
 */
export function decisionOf({ reasoning, complexity }: RouterProbabilities): RouterDecision | null {
  const [trivial = 0, simple = 0, medium = 0, high = 0] = complexity;
  const low = trivial + simple;
  const most = Math.max(low, medium, high);
  const sure = Math.max(reasoning, 1 - reasoning);
  if (most < DEMAND_SURE || sure < REASONING_SURE) return null;
  const demand = most === low ? 'low' : most === medium ? 'medium' : 'high';
  if (reasoning >= REASONING_SURE) return { route: 'reasoning', demand };
  return { route: demand === 'low' ? 'fast' : 'balanced', demand };
}
