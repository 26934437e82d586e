#!/usr/bin/env node
import process from 'node:process';
import { parseArgs } from 'node:util';
import { AUDIT_VERIFY_HELP, auditVerify } from './audit-verify.ts';
import { configCheck } from './config-check.ts';
import { describeError } from './describe-error.ts';
import { KEYS_CREATE_HELP, keysCreate } from './keys-create.ts';
import type { Output } from './output.ts';
import { UsageError } from './usage-error.ts';

interface Command {
  readonly summary: string;
  readonly help: string;
  readonly run: (args: readonly string[], output: Output) => number | Promise<number>;
}

const CONFIG_CHECK_HELP = `gwctl config check DIR [--secrets-dir DIR]

Reads a folder of resources as the gateway would, and names every fault. Ends with 0 when there is none, 1 otherwise.

  --secrets-dir DIR   Folder with <name>/<key> files, for secrets that are not resources
`;

const COMMANDS: Readonly<Record<string, Command>> = {
  'audit verify': {
    summary: 'Recompute the audit chain and name what was changed',
    help: AUDIT_VERIFY_HELP,
    run: (args, output) => {
      const { DATABASE_URL: databaseUrl, GW_DATA_DIR: dataDir } = process.env;
      return auditVerify(args, { databaseUrl: databaseUrl || undefined, dataDir: dataDir || '.data' }, output);
    },
  },
  'keys create': { summary: 'Make a key for a workload', help: KEYS_CREATE_HELP, run: keysCreate },
  'config check': { summary: 'Check a folder of resources', help: CONFIG_CHECK_HELP, run: runConfigCheck },
};

const HELP = `gwctl: the command line of Gatewarden

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  gwctl ${name.padEnd(14)} ${summary}`)
  .join('\n')}

gwctl COMMAND --help tells more. Every command ends with 2 when it could not do what it was asked to.
`;

async function runConfigCheck(args: readonly string[], { out }: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { 'secrets-dir': { type: 'string' } },
    allowPositionals: true,
  });
  const [dir, ...others] = positionals;
  if (dir === undefined || others.length > 0) throw new UsageError('name one folder: gwctl config check DIR');
  const secretsDir = values['secrets-dir'];
  return configCheck({ dir, ...(secretsDir !== undefined && { secretsDir }) }, out);
}

async function main(args: readonly string[], output: Output): Promise<number> {
  const [group = '', action = '', ...rest] = args;
  const name = `${group} ${action}`;
  const command = COMMANDS[name];
  if (!command) {
    if (args.some((arg) => arg === '--help' || arg === '-h') || group === 'help') {
      output.out(HELP.trimEnd());
      return 0;
    }
    output.err(args.length === 0 ? HELP.trimEnd() : `gwctl: there is no command "${name.trim()}". See gwctl --help`);
    return 2;
  }
  if (rest.some((arg) => arg === '--help' || arg === '-h')) {
    output.out(command.help.trimEnd());
    return 0;
  }
  try {
    return await command.run(rest, output);
  } catch (error) {
    const hint = error instanceof UsageError || isParseError(error) ? `. See gwctl ${name} --help` : '';
    output.err(`gwctl: ${describeError(error)}${hint}`);
    return 2;
  }
}

function isParseError(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException | undefined)?.code).startsWith('ERR_PARSE_ARGS');
}

// A reader that has seen enough (`gwctl … | head`) is no fault.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
process.exitCode = await main(process.argv.slice(2), {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
});
