import type { ConfigKeys } from '#/config/published/config-keys.ts';
import type { Cluster, ClusterKind, LeaseStore } from '#/ports/cluster.ts';
import type { ConfigPublisher } from '#/config/published/config-store.ts';
import type { Spending } from './status/spending.ts';

/** What happens to a controller. */
export type ControllerEvent =
  | { readonly name: 'controller.leading'; readonly epoch: number }
  | { readonly name: 'controller.following' }
  | { readonly name: 'config.published'; readonly epoch: number; readonly seq: number; readonly ms: number }
  | { readonly name: 'cluster.fault'; readonly kind: ClusterKind | undefined; readonly error: unknown }
  | { readonly name: 'store.fault'; readonly error: unknown };

export interface ControllerOptions {
  readonly cluster: Cluster;
  readonly leases: LeaseStore;
  readonly store: ConfigPublisher;
  readonly keys: ConfigKeys;
  /** What this process is called; no two may be called the same. */
  readonly name: string;
  /** Namespaces to read; empty: all. */
  readonly namespaces: readonly string[];
  readonly usdToEur: string;
  /** Where resources may speak for every organization. */
  readonly platformNamespace: string;
  /** Namespaces whose organizations are accepted; absent: those of all. */
  readonly organizationNamespaces?: readonly string[] | undefined;
  /** Spending of workloads; absent: unknown. */
  readonly spending?: Spending;
  readonly onEvent?: (event: ControllerEvent) => void;
  readonly timings?: Partial<Timings>;
}

export interface Timings {
  /** From a change until it is compiled, so that what changes together is published together. */
  readonly debounceMs: number;
  /** How often gateways and the store are looked at, and while gateways are waited for. */
  readonly lookMs: number;
  readonly hurryMs: number;
  /** How long a gateway that reports no more counts as living, and so how long one may live that is not heard of. */
  readonly reportMs: number;
  readonly leaseSeconds: number;
  readonly renewDeadlineMs: number;
  readonly retryMs: number;
}

export const TIMINGS: Timings = {
  debounceMs: 100,
  lookMs: 5000,
  hurryMs: 200,
  reportMs: 30_000,
  leaseSeconds: 15,
  renewDeadlineMs: 10_000,
  retryMs: 2000,
};

/** What a controller says of itself. */
export interface ControllerState {
  readonly epoch: number | undefined;
  readonly isSynced: boolean;
  /** Milliseconds since the collection was heard of that was heard of longest ago. */
  readonly silentMs: number;
  readonly seq: number;
  readonly keys: number;
  readonly documents: number;
  readonly faulty: number;
  readonly gateways: number;
  readonly pending: number;
  readonly waitingWrites: number;
  readonly publishedBytes: number;
  readonly lists: number;
}
