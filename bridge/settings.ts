import { createReader, readNamed, type Environment, type ReadSettings } from '#/settings/reader.ts';
import type { SettingsOf } from '#/settings/table.ts';
import { unknownSettingFaults } from '#/settings/unknown-settings.ts';

/** Settings of the bridge: those of the table by their names, and the server that it runs. */
export interface Settings extends Omit<SettingsOf<'bridge'>, 'token'> {
  readonly token: string;
  readonly command: string;
  readonly args: readonly string[];
  /** What the server gets of the environment: all but the bridge's own settings. */
  readonly childEnv: Readonly<Record<string, string>>;
}

const OWN = 'GW_BRIDGE_';

/** Reads and checks the environment and the command line; every fault at once, each naming its variable. */
export function readSettings(env: Environment, [command, ...args]: readonly string[]): ReadSettings<Settings> {
  const reader = createReader('bridge', env);
  const { token, ...named } = readNamed('bridge', reader);
  const faults = [...unknownSettingFaults(env), ...reader.faults];
  if (token === undefined && !env['GW_BRIDGE_TOKEN']) faults.push('GW_BRIDGE_TOKEN is missing');
  if (command === undefined || command === '')
    faults.push('the command line must name the server: main.ts COMMAND ARGUMENT…');
  if (faults.length > 0 || token === undefined || command === undefined) return { faults };
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !name.startsWith(OWN));
  return { settings: { ...named, token, command, args, childEnv: Object.fromEntries(kept) as Record<string, string> } };
}
