import type { PolicyOrigin } from '#/config/snapshot.ts';
import type { AttemptReport } from '#/errors/gateway-error.ts';
import type { Usage } from '#/wire/answer/usage.ts';
import type { Family } from '#/wire/document/document.ts';
import type { NanoEuro } from '#/values/money.ts';
import type { Units } from './units.ts';

/** What a policy that is only watched would have decided otherwise. Facts only, never content. */
export interface Difference {
  /** Which field of the policy: `dlp.mode`. */
  readonly field: PolicyOrigin['field'];
  readonly text: string;
}

/** A provider that was asked, and how. */
export interface AskedTarget {
  readonly provider: string;
  readonly model: string;
  readonly jurisdiction: string;
  /** The wire family it was asked in. */
  readonly family: Family;
}

/** How a call stands that a person must approve. */
export interface ApprovalFacts {
  /** When it was decided; null: it is not. */
  readonly at: string | null;
  /** Who decided. */
  readonly by: string | null;
  /** Of the request for approval. */
  readonly id: string;
  readonly state: 'asked' | 'waiting' | 'approved' | 'denied' | 'expired';
}

/** What a row says of a call of a tool: never its arguments or its result. */
export interface ToolFacts {
  /** Answers of the client to what the tool asked before; absent: none. */
  readonly answers?: number | undefined;
  readonly approval?: ApprovalFacts | undefined;
  /** HMAC-SHA256 of the arguments as canonical JSON, under a key of the organization. */
  readonly arguments: string | null;
  /** Methods by which the tool asks the client for more; absent: it does not. */
  readonly asks?: readonly string[] | undefined;
  /** SHA-256 of the definition as canonical JSON, without its `_meta`. */
  readonly definition: string | null;
  /** Revisions that the client and the server speak. */
  readonly eras: readonly string[];
  /** Whether the tool says that it failed. */
  readonly is_error: boolean;
  readonly method: string;
  readonly result_bytes: number;
  /** Category -> number of findings. */
  readonly result_findings: Readonly<Record<string, number>>;
  /** What policy does with findings in results. */
  readonly result_mode: string;
}

/** The amount held for a call, and the cost of a usage at the prices of that time. */
export interface HeldMoney {
  readonly open: { readonly organization: string; readonly amount: NanoEuro };
  /** Throws `RangeError` for a usage that makes no sense. */
  cost(usage: Usage, target: Pick<AskedTarget, 'provider' | 'model'>, units?: Units): NanoEuro;
  priceSource(target: Pick<AskedTarget, 'provider' | 'model'>): string;
}

/**
 * What a step states of its call, for the audit row. Lines of `route` and differences of `shadow` add to those stated before;
 * all others replace the earlier value. Never content.
 */
export interface CallFacts {
  readonly asked?: { readonly model: string | null; readonly stream: boolean };
  /** What the scope guard made of the call. */
  readonly scope?: string | undefined;
  /** Category -> number of findings. */
  readonly findings?: Readonly<Record<string, number>>;
  /** Who looked through it (`DetectorMarks`). */
  readonly detectors?: string | undefined;
  /** Kinds of content that were not inspected. */
  readonly unscanned?: readonly string[];
  /** Labels of the terms that the request itself asks to remove. */
  readonly removed?: readonly string[];
  /** Servers of tools that the provider may call by itself, by name and host. */
  readonly toolServers?: readonly string[];
  /** How the route was decided, a line each model. */
  readonly route?: readonly string[];
  /** What a policy in shadow mode would have decided otherwise. */
  readonly shadow?: readonly Difference[];
  /** Of a call of a tool. */
  readonly tool?: ToolFacts | undefined;
  readonly hold?: HeldMoney | undefined;
  readonly attempts?: readonly AttemptReport[];
  /** What the way to the target dropped, and the way back. */
  readonly losses?: readonly string[];
  /** The target that was last asked. */
  readonly target?: AskedTarget | undefined;
  /** A provider has begun to answer, so the usage seen so far is billed. */
  readonly isAnswering?: boolean;
  /** Whether the answer came from the gateway's own cache: then nothing was used. */
  readonly cacheHit?: 'none' | 'exact';
  readonly providerResponseId?: string | null;
  /** As the provider reported it. */
  readonly usage?: Usage | undefined;
  /** Units besides tokens (pages, images): as requested, then as reported. */
  readonly units?: Units | undefined;
  /** Billed when the provider reports nothing: our own count. */
  readonly seen?: Usage;
  /** What the provider said last of the whole answer can't be true. */
  readonly isDoubted?: boolean;
  /** The whole answer was handed to the surface. */
  readonly isServed?: boolean;
}

/** All facts of a call, those not stated yet as they are then. */
export type StatedFacts = Readonly<Required<CallFacts>>;

/** A step that ended its call: why, and what it states of the call nevertheless. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly facts: CallFacts;

  constructor(cause: unknown, facts: CallFacts) {
    super(cause instanceof Error ? cause.message : 'the call was ended', { cause });
    this.facts = facts;
  }
}

/** Jurisdictions as a row tells them: each once, in alphabetical order, with commas between. */
export function jurisdictionsOf(all: readonly string[]): string | null {
  if (all.length < 2) return all[0] ?? null;
  return [...new Set(all)].toSorted().join(',');
}
