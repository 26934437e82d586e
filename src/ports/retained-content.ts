/** The encrypted content of one call. */
export interface RetainedItem {
  /** UUIDv7 of the call. */
  readonly callId: string;
  readonly organization: string;
  /** Milliseconds since the epoch from which it is no longer kept. */
  readonly expiresAt: number;
  /** Nothing of it can be read in the store. */
  readonly encrypted: Uint8Array;
}

/** Requests and answers of organizations that want them kept, apart from the audit rows, so that they can be erased. */
export interface RetainedContent {
  /** Keeps a batch. An item that is there already is left as it is. */
  put(items: readonly RetainedItem[]): Promise<void>;
  /** The item of a call, expired or not; undefined without one. */
  find(callId: string): Promise<RetainedItem | undefined>;
  /** Removes all items of an organization; resolves with how many. */
  erase(organization: string): Promise<number>;
  /** Removes what expired before `now` (milliseconds since the epoch); resolves with how many items. */
  expire(now: number): Promise<number>;
}
