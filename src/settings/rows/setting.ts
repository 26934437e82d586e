import type { Form } from './forms.ts';

/** A program of Gatewarden that reads settings. */
export type Program = 'gateway' | 'controller' | 'engine' | 'bridge' | 'gwctl';

/** Where the chart takes a setting from. */
export interface ChartValue {
  /** The value of the chart for each program that the chart sets it for, such as `gateway.logLevel`. */
  readonly values: Partial<Record<Exclude<Program, 'gwctl' | 'bridge'>, string>>;
  /** The default in the chart where it is another one. Empty: the chart sets the variable only where the value is not empty. */
  readonly default?: string;
}

/** One setting: an environment variable, and everything that follows from it. */
export interface Setting {
  readonly form: Form;
  readonly readers: readonly Program[];
  /** Its member of the settings of every program that reads it; absent: read as a part of something larger. */
  readonly as?: string;
  /** The text that holds where the variable is not set; by program where they differ. */
  readonly default?: string | Partial<Record<Program, string>>;
  /** What happens where the variable is not set and there is no default. */
  readonly unset?: string;
  readonly required?: true;
  /** The value is a secret, or an address that may hold one. */
  readonly secret?: true;
  /** `own`: the chart sets the variable itself; `refused`: the chart does not allow it. */
  readonly chart?: ChartValue | 'own' | 'refused';
  readonly meaning: string;
}

/** Settings by the names of their environment variables. */
export type SettingRows = Readonly<Record<string, Setting>>;
