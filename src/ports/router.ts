import type { ModelRequest } from '#/wire/hub/canonical.ts';
import type { RouterDecision } from '#/wire/systemone/decision.ts';

/** What the local router model makes of a request. // spec 2.6 */
export interface RouterVerdict extends RouterDecision {
  /** `code`, `writing`, `translation`, … */
  readonly task: string;
  /** 0 trivial, 1 simple, 2 moderate, 3 hard. */
  readonly complexity: number;
}

/** The local router model behind automatic aliases. Nothing of a request leaves the installation through it. */
export interface Router {
  /** Undefined when it abstains. Rejects when it is busy or cannot answer: the documented rule decides then. */
  judge(request: ModelRequest, signal: AbortSignal): Promise<RouterVerdict | undefined>;
}
