import type { Value } from './rows/forms.ts';
import { BRIDGE_ROWS } from './rows/bridge-rows.ts';
import { CONTROLLER_ROWS } from './rows/controller-rows.ts';
import { ENGINE_ROWS } from './rows/engine-rows.ts';
import { GATEWAY_ROWS } from './rows/gateway-rows.ts';
import { STORAGE_ROWS } from './rows/storage-rows.ts';
import type { Program } from './rows/setting.ts';

/**
 * Every environment variable that a program of Gatewarden reads. From this table follow the readers, their errors, the chart's
 * variables and schema, and docs/reference/settings.md (`make docs`).
 */
export const SETTINGS = {
  ...BRIDGE_ROWS,
  ...CONTROLLER_ROWS,
  ...ENGINE_ROWS,
  ...GATEWAY_ROWS,
  ...STORAGE_ROWS,
} as const;

type Table = typeof SETTINGS;

/** An environment variable that a program may read: a name that is not in the table does not compile. */
export type SettingName = keyof Table;

/** The value of a setting: undefined only where the variable may be absent and no default holds. */
export type ValueOf<N extends SettingName> =
  | Value<Table[N]['form']>
  | (Table[N] extends { default: unknown } ? never : undefined);

/** The members that follow from the table: those settings of a program that have a name (`as`). */
export type SettingsOf<P extends Program> = {
  readonly [
    N in SettingName as Table[N] extends { as: infer A extends string; readers: readonly (infer R)[] }
      ? P extends R
        ? A
        : never
      : never
  ]: ValueOf<N>;
};
