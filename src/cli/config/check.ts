import { parseArgs } from 'node:util';
import { configCheck } from './check-folder.ts';
import type { Output } from '../terminal/output.ts';
import { UsageError } from '../terminal/usage-error.ts';

export const CONFIG_CHECK_HELP = `gwctl config check DIR [--secrets-dir DIR]

Reads a folder of resources as the gateway does, and reports every fault. Exits with 0 without faults, else with 1.

  --secrets-dir DIR   Folder with <name>/<key> files, for secrets that are not resources
`;

/** Checks the folder that the command line names. Resolves with the exit status; rejects with UsageError. */
export async function checkConfig(args: readonly string[], { out }: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { 'secrets-dir': { type: 'string' } },
    allowPositionals: true,
  });
  const [dir, ...others] = positionals;
  if (dir === undefined || others.length > 0) throw new UsageError('give one folder: gwctl config check DIR');
  const secretsDir = values['secrets-dir'];
  return configCheck({ dir, ...(secretsDir !== undefined && { secretsDir }) }, out);
}
