import type { Connection } from './connection.ts';
import { holdsKey, leasesKey } from './keys.ts';
import type { Script, ScriptName } from './scripts.ts';

/** What the verbs share: the connection, the scripts, and how keys and the clock are written. */
export interface Store {
  readonly connection: Connection;
  readonly scripts: Readonly<Record<ScriptName, Script>>;
  readonly prefix: string;
  /** First argument of scripts that need the time: empty for the store's own clock; only tests set it. */
  readonly clock: () => string;
  readonly pauseMs: number;
}

/** Runs a script on one organization. */
export function runOn(store: Store, name: ScriptName, organization: string, args: readonly string[]): Promise<unknown> {
  return store.connection.run(store.scripts[name], holdsKey(store.prefix, organization), args);
}

/** Runs a script on the leases. */
export function runOnLeases(store: Store, args: readonly string[]): Promise<unknown> {
  return store.connection.run(store.scripts.lease, leasesKey(store.prefix), args);
}
