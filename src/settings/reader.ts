import { allowed, parse } from './rows/forms.ts';
import type { Program, Setting } from './rows/setting.ts';
import { SETTINGS, type SettingName, type SettingsOf, type ValueOf } from './table.ts';

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of a program, or everything that is wrong with its environment. */
export type ReadSettings<S> = { readonly settings: S } | { readonly faults: readonly string[] };

/** Reads the settings of one program. An empty variable is one that is not set. */
export interface Reader {
  /** Faults so far: each names its variable and the allowed values, and never repeats a value. */
  readonly faults: string[];
  /** The value of a setting, or its default. A fault is added where the text is not allowed. */
  read<N extends SettingName>(name: N): ValueOf<N>;
  /** The setting as it is written, or its default. */
  text<N extends SettingName>(name: N): string | Extract<ValueOf<N>, undefined>;
}

/** The environment of this process. Nothing else reads it. */
export function processEnvironment(): Environment {
  return process.env;
}

/** Opens the environment for a program. Throws where the program asks for a setting that the table does not give it. */
export function createReader(program: Program, env: Environment): Reader {
  const faults: string[] = [];
  const written = (name: SettingName): string | undefined => {
    if (!(SETTINGS[name].readers as readonly Program[]).includes(program))
      throw new Error(`src/settings/rows does not list ${program} as a reader of ${name}`);
    return env[name] || defaultOf(SETTINGS[name], program);
  };
  const read = (name: SettingName): unknown => {
    const text = written(name);
    if (text === undefined) return undefined;
    const { form } = SETTINGS[name];
    const value = parse(form, text);
    if (value !== undefined) return value;
    const fallback = defaultOf(SETTINGS[name], program);
    const fault = `${name} must ${allowed(form)}${fallback === undefined ? '' : `; unset, it is ${fallback}`}`;
    if (!faults.includes(fault)) faults.push(fault);
    return fallback === undefined ? undefined : parse(form, fallback);
  };
  return { faults, read: read as Reader['read'], text: written as Reader['text'] };
}

/** Reads every setting of a program that has a member name. */
export function readNamed<P extends Program>(program: P, reader: Reader): SettingsOf<P> {
  const named = Object.entries<Setting>(SETTINGS).flatMap(([name, { as, readers }]) =>
    as !== undefined && readers.includes(program) ? [[as, reader.read(name as SettingName)] as const] : [],
  );
  return Object.fromEntries(named) as SettingsOf<P>;
}

/** The text that holds where the variable is not set. */
export function defaultOf({ default: fallback }: Setting, program: Program): string | undefined {
  return typeof fallback === 'object' ? fallback[program] : fallback;
}
