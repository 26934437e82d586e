import type { ResourceCounts } from './resources/kinds.ts';
import type { Fault } from './fault.ts';
import type { Snapshot } from './snapshot.ts';

/** Where the gateway gets its snapshot from. */
export interface ConfigSource<S extends Snapshot = Snapshot> {
  /** The last good snapshot; undefined until there is one. A call keeps the one it started with. */
  current(): S | undefined;
  /** False while the configuration cannot be read or has faults. */
  readable(): boolean;
  /** Whether a key that the snapshot does not have, by its SHA-256 (hex), may be good nevertheless. // spec 5.7 */
  mayHold(hash: string): boolean;
  /** The same of a key by its id. */
  mayHoldId(id: string): boolean;
  /** Milliseconds since the snapshot was known to be the one in force; 0 where that is known at once. */
  age(): number;
  /** Current faults; empty while readable. */
  faults(): readonly Fault[];
  /** Reads everything again, now. Never rejects: errors become faults. */
  reload(): Promise<void>;
  /** Stops following changes. The last snapshot stays. */
  close(): void;
}

/** What happens to a source. */
export type ConfigEvent =
  | { readonly name: 'config.loaded'; readonly revision: string; readonly counts: ResourceCounts }
  | { readonly name: 'config.rejected'; readonly faults: readonly Fault[] }
  /** Published configuration is not taken over: why, and which parts of it. */
  | { readonly name: 'config.not_taken'; readonly why: NotTaken; readonly segments?: readonly string[] }
  /** A publication is in force again after one that was rejected. */
  | { readonly name: 'config.taken_again' }
  /** A defect of the compiler itself, or a copy that could not be kept. */
  | { readonly name: 'config.failed'; readonly error: unknown };

/**
 * Why published configuration stays where it is: the store does not answer, has none, has one older than that in force,
 * or one that was not signed with a key of ours; segments that are missing or not what their names say.
 */
export type NotTaken = 'unreachable' | 'missing' | 'older' | 'forged' | 'broken';

/** A listener that fails must not stop the reloading. */
export function safely(listener: ((event: ConfigEvent) => void) | undefined): (event: ConfigEvent) => void {
  return (event) => {
    try {
      listener?.(event);
    } catch {
      // Its failure is its own to report.
    }
  };
}

/** Runs tasks one after the other, so that two loads never overtake each other; none after it is closed. */
export function createQueue() {
  let last = Promise.resolve();
  let closed = false;
  return {
    run: (task: () => Promise<void>): Promise<void> => (last = last.then(() => (closed ? undefined : task()))),
    close: () => void (closed = true),
    closed: () => closed,
  };
}
