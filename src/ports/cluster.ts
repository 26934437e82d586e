/** Kinds that a cluster has for Gatewarden. */
export type ClusterKind =
  | 'Organization'
  | 'Workload'
  | 'Policy'
  | 'Provider'
  | 'PriceBook'
  | 'VirtualKey'
  | 'ModelAlias'
  | 'MCPServer'
  | 'Secret'
  | 'Namespace';

/** What every object of a cluster says of itself. */
interface ClusterMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  /** It is to be removed once its finalizers are gone. */
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** An object as the API server stores it. */
export interface ClusterObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ClusterMetadata;
  readonly spec?: unknown;
  readonly status?: unknown;
  /** Of a Secret: values in base64. */
  readonly data?: Readonly<Record<string, string>>;
}

/** Objects of one kind: of one namespace, or of all. */
export interface Collection {
  readonly kind: ClusterKind;
  readonly namespace?: string;
}

/** A page of a list; all pages of a list are of one state, that of `resourceVersion`. */
interface Page {
  readonly items: readonly ClusterObject[];
  readonly resourceVersion: string;
  /** What to ask for the next page with; absent on the last one. */
  readonly next?: string;
}

/** A change, or a bookmark: nothing changed, but the state is that of its resource version. */
export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: ClusterObject;
}

/** Which object, and the kind it is of. */
export interface ObjectRef {
  readonly kind: ClusterKind;
  readonly namespace: string;
  readonly name: string;
}

/** A message to people about an object. */
export interface ClusterEvent {
  readonly about: ObjectRef;
  readonly uid?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The cluster that holds the resources. All verbs reject with `ClusterFault`. */
export interface Cluster {
  list(collection: Collection, next?: string): Promise<Page>;
  /** Tells changes after a resource version. Resolves when the server ends the watch, as it does every few minutes. */
  watch(
    collection: Collection,
    since: string,
    onEvent: (event: WatchEvent) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Sets the status that this controller is in charge of. An object that is gone is no fault. */
  applyStatus(object: ObjectRef, status: object): Promise<void>;
  /** Replaces the finalizers, unless the object has changed since. An object that is gone is not a fault. */
  setFinalizers(object: ObjectRef, resourceVersion: string, finalizers: readonly string[]): Promise<void>;
  record(event: ClusterEvent): Promise<void>;
}

/** Who leads, for how long, and how often that has changed hands. */
export interface LeaseState {
  readonly holder: string;
  readonly seconds: number;
  /** Grows with each new holder: it tells the writes of a holder from those of earlier ones. */
  readonly transitions: number;
  /** Milliseconds since the epoch, by the writer's clock. */
  readonly acquiredAt: number;
  readonly renewedAt: number;
}

/** The one lease that controllers compete for. Both verbs reject with `ClusterFault`. */
export interface LeaseStore {
  read(): Promise<{ readonly state: LeaseState; readonly version: string } | undefined>;
  /** Writes unless another process has written since: `version` of the last read, or undefined if there was none. */
  write(state: LeaseState, version: string | undefined): Promise<boolean>;
}

/** What the API server answered, if it did. The message tells no content. */
export class ClusterFault extends Error {
  override readonly name = 'ClusterFault';
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** When it asked to be asked again, if it did. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, status?: number, retryAfterMs?: number) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}
