/** How a request for approval stands. `used`: its call was made, or may have been. */
type ApprovalState = 'waiting' | 'approved' | 'denied' | 'used';

/** A call of a tool that a person must approve, as a gateway asks for it. */
export interface AskedApproval {
  /** UUID of the request, where it is a new one. */
  readonly id: string;
  /** Digest of the whole call. An approval lets only a call with the same one pass. */
  readonly binding: string;
  readonly organization: string;
  readonly workload: string;
  /** Id of the virtual key. */
  readonly key: string;
  /** Who asks, as audit rows name persons; absent: the caller has the key alone. */
  readonly person?: string | undefined;
  /** Id of the MCPServer. */
  readonly server: string;
  readonly tool: string;
  /** SHA-256 of the tool's definition. */
  readonly definition: string;
  /** The arguments as a person sees them: JSON source, without personal data. */
  readonly shown: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** When it ends without a decision. */
  readonly endsAt: number;
}

/** A request for approval. */
export interface ToolApproval extends Omit<AskedApproval, 'binding'> {
  readonly state: ApprovalState;
  /** Who decided; absent: it is not decided. */
  readonly by?: string;
  readonly reason?: string;
  readonly decidedAt?: number;
}

/** The request that a call finds. */
export interface FoundApproval extends ToolApproval {
  /** The call entered the request itself. */
  readonly isNew: boolean;
  /** It replaces a request that ended unused, because its time was over. */
  readonly followsExpired: boolean;
}

/** A person's decision on a request that waits. */
export interface ApprovalDecision {
  readonly id: string;
  /** Id of the Organization whose request it must be; absent: of any. */
  readonly organization?: string | undefined;
  readonly state: 'approved' | 'denied';
  readonly by: string;
  readonly reason?: string | undefined;
  readonly now: number;
  /** When the decision ends. */
  readonly endsAt: number;
}

/** How many requests may wait at once. */
export interface MostWaiting {
  readonly ofWorkload: number;
  /** Of one key and one person; those of a key without a person count together. */
  readonly ofCaller: number;
}

/** Requests for approval, known to every gateway. */
export interface ToolApprovals {
  /**
   * The request of a call that has not ended, or a new one: of those who ask at once, one enters it. Undefined: the workload
   * or the caller has `most` requests that wait.
   */
  ask(asked: AskedApproval, most: MostWaiting): Promise<FoundApproval | undefined>;
  /** Uses an approval that has not ended: true for one caller alone. */
  use(id: string, now: number): Promise<boolean>;
  /** Decides a request that waits. Undefined: it is unknown, has ended or is decided. */
  decide(decision: ApprovalDecision): Promise<ToolApproval | undefined>;
  /** Those of an organization or of all, the newest first; `id`: this one. */
  list(of: {
    readonly organization?: string | undefined;
    readonly id?: string | undefined;
  }): Promise<readonly ToolApproval[]>;
  /** Forgets requests that ended before an instant. Returns how many. */
  expire(before: number): Promise<number>;
}
