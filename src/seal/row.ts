import type { AttemptReport } from '#/errors/gateway-error.ts';
import type { Units } from '#/call/units.ts';
import type { Usage } from '#/wire/answer/usage.ts';

/** How a call ended. */
export type Outcome = 'served' | 'refused' | 'failed' | 'hung_up' | 'abandoned';

/** Where in the corridor a call was refused or failed. */
export type Step = 'door' | 'inspect' | 'route' | 'meter' | 'dispatch';

/**
 * What is sealed of one call. Members are in alphabetical order at every level, so that `JSON.stringify` of it
 * is its RFC 8785 canonical form (see `canonicalRow`). Money is decimal text of nano-euro. Never any content.
 */
export interface AuditRow {
  readonly attempts: readonly AttemptReport[];
  /** Start of the call, RFC 3339 with milliseconds. */
  readonly at: string;
  readonly cache_hit: 'none' | 'exact';
  readonly call_id: string;
  /** Error code of the catalogue, or null when served. */
  readonly code: string | null;
  readonly config_revision: string;
  readonly cost_nano_eur: string;
  readonly dlp: {
    /**
     * Who looked through the call: a digest of kinds and revisions, which the log explains (`detectors.used`). Absent where
     * nobody did, and in rows of earlier builds.
     */
    readonly detectors?: string | undefined;
    /** Category -> number of findings. */
    readonly findings: Readonly<Record<string, number>>;
    readonly mode: string;
    readonly unscanned: readonly string[];
  };
  readonly duration_ms: number;
  /** What the debit before dispatch was; `0` when nothing was held. */
  readonly held_nano_eur: string;
  /**
   * Where the prompt was sent, or may have been: every jurisdiction of an attempt that sent it, in alphabetical order with
   * commas between (`EU,US`); null where it was sent nowhere. Rows of earlier builds name the last attempt's alone.
   */
  readonly jurisdiction: string | null;
  readonly key: string;
  /** What translating between wire families dropped. */
  readonly losses: readonly string[];
  /** Model id as the caller named it. */
  readonly model: string | null;
  readonly organization: string;
  readonly outcome: Outcome;
  /** Which price was used, or null when nothing was dispatched. */
  readonly price: string | null;
  /** Resolved provider and the model id it was asked for. */
  readonly provider: string | null;
  readonly provider_model: string | null;
  /** Id the provider gave its answer. */
  readonly provider_response_id: string | null;
  readonly reason: string | null;
  /** How the route was decided: each model considered, with its verdict and why. Absent in rows of earlier builds. */
  readonly route?: readonly string[];
  /** What the scope guard made of it. Absent where the workload has none. */
  readonly scope?: string | undefined;
  readonly sequence: number;
  /** The service tier that was billed, where it is not the vendor's ordinary one. */
  readonly service_tier?: string | undefined;
  /** What a policy in shadow mode would have decided otherwise. Absent where there is nothing to say. */
  readonly shadow?: readonly string[] | undefined;
  /** HTTP status the client was answered with, or would have been. */
  readonly status: number;
  readonly step: Step | null;
  readonly strand: string;
  readonly stream: boolean;
  readonly surface: string;
  /** Servers of tools that the provider was let call by itself: name and host. Absent where there are none. */
  readonly tool_servers?: readonly string[] | undefined;
  /** What was billed beside tokens, where there was any. */
  readonly units?: Units | undefined;
  readonly usage: Omit<Usage, 'serviceTier' | 'searches' | 'fileSearches' | 'containers'> | null;
  /**
   * `provider`: as reported; `estimated`: counted here, as none was reported; `implausible`: counted here, as what was
   * reported can't be true; `held`: abandoned, billed at the held amount.
   */
  readonly usage_source: 'provider' | 'estimated' | 'implausible' | 'held' | null;
  readonly v: 1;
  /** The wire family the provider was asked in; of a call that asked none, the surface's. */
  readonly wire_format: string;
  readonly workload: string;
}
