/** Which publication: the term of the controller that published it, then a number that grows within the term. */
export interface Position {
  readonly epoch: number;
  readonly seq: number;
}

/** The publication in force: the manifest names every segment by the SHA-256 (hex) of its text. */
export interface PublishedHead extends Position {
  readonly manifest: string;
  /** Made with a key that the store does not have. */
  readonly signature: string;
}

/** What a gateway tells of itself. */
export interface GatewayReport extends Position {
  /** Digests of segments that it could not read and that must be written again. */
  readonly broken: readonly string[];
}

/** Published configuration as gateways read it. All verbs but `follow` reject when the store cannot be reached. */
export interface ConfigFeed {
  head(): Promise<PublishedHead | undefined>;
  /** Segments by digest, compressed (gzip) and not verified; those that are not there are left out. */
  segments(digests: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Calls `changed` when something is published, as far as the connection holds: polling notices the rest. */
  follow(changed: () => void): void;
  /** Tells that this gateway lives and what it serves by; it counts as gone 30 s later. */
  report(gateway: string, report: GatewayReport): Promise<void>;
  /** Tells that this gateway is gone. */
  leave(gateway: string): Promise<void>;
}

/**
 * Result of a publication. `published`: with the publication in force before, if any; `fenced`: a later controller
 * has published; `stale`: this one has published a newer one; both with the position of the store. `missing`: segments
 * that must be put first, by digest.
 */
export type Publication =
  | { readonly kind: 'published'; readonly over: Position | undefined }
  | { readonly kind: 'fenced' | 'stale'; readonly at: Position }
  | { readonly kind: 'missing'; readonly digests: readonly string[] };

/** Published configuration as the controller writes it. All verbs reject when the store cannot be reached. */
export interface ConfigPublisher {
  head(): Promise<PublishedHead | undefined>;
  /** As `ConfigFeed` reads them. */
  segments(digests: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Puts segments by digest, compressed. They are dropped after an hour unless something published names them. */
  put(segments: ReadonlyMap<string, Uint8Array>): Promise<void>;
  /** Puts a head in force in one step, unless a newer one is. */
  publish(head: PublishedHead): Promise<Publication>;
  /** What gateways that live have reported, by name. */
  gateways(): Promise<ReadonlyMap<string, GatewayReport>>;
}

/** The last good configuration, kept where this process finds it again without the store. */
export interface ConfigCopy {
  /** With when it was kept, milliseconds since the epoch. */
  head(): Promise<(PublishedHead & { readonly keptAt: number }) | undefined>;
  segments(digests: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Keeps a head; `fresh` are those of its segments that earlier heads had not. Rejects when one is missing. */
  keep(head: PublishedHead, digests: readonly string[], fresh: ReadonlyMap<string, Uint8Array>): Promise<void>;
}
