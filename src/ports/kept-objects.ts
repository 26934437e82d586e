/** Something that a provider keeps under an id, and who made it through the gateway. */
export interface KeptObject {
  /** The Provider's id (`<namespace>/<name>`): ids of one provider mean nothing at another. */
  readonly provider: string;
  /** As the provider knows it. */
  readonly id: string;
  /** What it is: `file`, `video`, `response`, … */
  readonly kind: string;
  readonly organization: string;
  readonly workload: string;
  /** Name of the credential it was made with; '': the provider has none. */
  readonly credential: string;
  /** Milliseconds since the epoch. */
  readonly madeAt: number;
  /** Milliseconds since the epoch from which the record is no longer kept. */
  readonly expiresAt: number;
}

/** Whose objects of one kind are listed, and from where. */
export interface KeptQuery extends Pick<KeptObject, 'provider' | 'kind' | 'organization' | 'workload'> {
  readonly order: 'asc' | 'desc';
  /** Id of the object before the first one; absent: from the beginning. */
  readonly after?: string | undefined;
  /** At most so many. */
  readonly limit: number;
}

/** Who made what a provider keeps, known to every gateway as soon as it is recorded. */
export interface KeptObjects {
  /** Records objects. One that is recorded already stays whose it is. */
  record(objects: readonly KeptObject[]): Promise<void>;
  /** Those of these ids that are recorded, and not expired. */
  find(provider: string, ids: readonly string[], now: number): Promise<readonly KeptObject[]>;
  /** Objects of a workload by creation time. Empty if `after` is not one of them. */
  list(query: KeptQuery, now: number): Promise<readonly KeptObject[]>;
  /** The provider keeps it no longer. */
  forget(provider: string, id: string): Promise<void>;
  /** Removes records that expired before `now`; resolves with how many. */
  expire(now: number): Promise<number>;
}
