import { loadFolder } from '#/config/folder/folder-source.ts';
import type { Fault } from '#/config/fault.ts';

/** What `gwctl config check` is given. */
export interface ConfigCheckArguments {
  /** Folder with resources as YAML files. */
  readonly dir: string;
  /** Folder with `<name>/<key>` files, for secrets that are not resources. */
  readonly secretsDir?: string;
}

/**
 * Checks a configuration folder as the gateway would read it. Writes one line a fault, or a summary. Returns the exit
 * code: 0 when the folder is good, 1 when it has faults.
 */
export async function configCheck(args: ConfigCheckArguments, write: (line: string) => void): Promise<number> {
  // The exchange rate changes amounts, never whether they are valid.
  const result = await loadFolder({ ...args, usdToEur: '1' });
  if (!result.snapshot) {
    for (const fault of result.faults) write(formatFault(fault));
    write(`${result.faults.length} ${result.faults.length === 1 ? 'fault' : 'faults'} in ${args.dir}`);
    return 1;
  }
  const counts = Object.entries(result.counts).filter(([, count]) => count > 0);
  write(`${args.dir} is good: ${counts.map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
  return 0;
}

/** `file: Kind namespace/name: field: message`, without the parts that a fault does not have. */
export function formatFault({ file, object, field, message }: Fault): string {
  return [file, object, field, message].filter((part) => part !== '').join(': ');
}
