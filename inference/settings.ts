import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { createReader, readNamed, type Environment, type ReadSettings } from '#/settings/reader.ts';
import type { SettingsOf } from '#/settings/table.ts';
import { unknownSettingFaults } from '#/settings/unknown-settings.ts';

/** Settings of the engine: those of the table by their names, and those whose default the machine decides. */
export interface Settings extends SettingsOf<'engine'> {
  /** Jobs at a time, each in a thread of its own. */
  readonly workers: number;
  /** Memory of the process with all threads: beyond it, the job that started last is ended. */
  readonly maxRssMib: number;
  /** Where local models are, a folder each. */
  readonly modelsDir: string;
}

const MODELS = fileURLToPath(new URL('./models', import.meta.url));

/** Reads and checks the environment; every fault at once, each naming its variable. */
export function readSettings(env: Environment): ReadSettings<Settings> {
  const reader = createReader('engine', env);
  const workers = reader.read('GW_INFERENCE_WORKERS') ?? Math.max(1, Math.min(4, availableParallelism() - 1));
  const settings: Settings = {
    ...readNamed('engine', reader),
    workers,
    maxRssMib: reader.read('GW_INFERENCE_MAX_RSS_MIB') ?? 1024 + workers * 1536,
    modelsDir: reader.read('GW_MODELS_DIR') ?? MODELS,
  };
  const faults = [...unknownSettingFaults(env), ...reader.faults];
  return faults.length > 0 ? { faults } : { settings };
}
