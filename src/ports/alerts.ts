import type { NanoEuro } from '#/values/money.ts';

/** Money that is used up, or nearly: said once, whichever gateway notices. */
export interface Alert {
  /** The same for every gateway and every repetition. */
  readonly id: string;
  readonly limit: 'budget' | 'cap' | 'credit';
  /** `reached`: so much is spent. `refused`: a call was refused because too little was left for it. */
  readonly event: 'reached' | 'refused';
  /** Share of `amount`; of a refusal, the share spent, rounded down. */
  readonly percent: number;
  readonly organization: string;
  /** Whose budget it is. */
  readonly workload?: string;
  /** `total`, a day or a month of the organization's calendar; of credit, `entry <number>` of the last top-up. */
  readonly period: string;
  /** The limit; for credit, the last payment. */
  readonly amount: NanoEuro;
  /** Settled in the period, without open holds; of credit, in all. */
  readonly spent: NanoEuro;
  /** The rest of the limit, or of all credit. Negative when overdrawn. */
  readonly left: NanoEuro;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Receives alerts, in addition to the log. */
export interface AlertSink {
  /** Resolves with whether the alert arrived; never rejects, and gives up after a minute at most. */
  deliver(alert: Alert): Promise<boolean>;
}
