import type { NanoEuro } from '#/values/money.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/** Dimensions of usage; `model` is the provider and the model in the request to it. */
export const USAGE_DIMENSIONS = ['workload', 'model', 'day'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

export interface UsageQuestion {
  readonly organization: string;
  /** One workload; absent: all of them. */
  readonly workload?: string;
  /** First and last day, `2026-11-21`, both counted. */
  readonly from: string;
  readonly to: string;
  /** IANA time zone that days begin and end in. */
  readonly timeZone: string;
  readonly by: readonly UsageDimension[];
}

/** What calls came to. Those that were neither refused, failed, hung up nor abandoned were served. */
interface UsageSums {
  readonly calls: number;
  readonly refused: number;
  readonly failed: number;
  readonly hungUp: number;
  readonly abandoned: number;
  /** Answered from the gateway's own cache. */
  readonly cacheHits: number;
  /** Sound and pictures are counted in `input`, `cacheRead` and `output`. */
  readonly tokens: Usage;
  readonly cost: NanoEuro;
}

/** The sums for one combination of the requested dimensions. */
export interface UsageLine extends UsageSums {
  readonly workload?: string;
  /** Empty where calls reached no provider. */
  readonly provider?: string;
  readonly model?: string;
  readonly day?: string;
}

export interface UsageReport {
  readonly lines: readonly UsageLine[];
  /** False while rows from before the sums existed are still being counted. */
  readonly complete: boolean;
}

/** A day (UTC) whose stored sums are not those of its rows. Figures in decimal; cost in nano-euro. */
export interface UsageDifference {
  readonly organization: string;
  readonly workload: string;
  readonly provider: string;
  readonly model: string;
  readonly day: string;
  readonly stored: { readonly calls: string; readonly tokens: string; readonly cost: string };
  /** The sums of the rows. */
  readonly counted: { readonly calls: string; readonly tokens: string; readonly cost: string };
}

/** Who used what: answered from sums that are kept with the rows, however many of those there are. */
export interface UsageBook {
  /**
   * Sums of an organization's calls. Throws RangeError for an unknown time zone, for invalid days, and for days
   * longer than thirteen months ago that do not begin at midnight UTC: by then only those are kept.
   */
  usage(question: UsageQuestion): Promise<UsageReport>;
  /** Where stored sums are not those of the rows: at most twenty, none unless tampered with. Reads every row. */
  usageDifferences(): Promise<readonly UsageDifference[]>;
}
