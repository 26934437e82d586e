#!/usr/bin/env node
import process from 'node:process';
import { createReader, processEnvironment } from '#/settings/reader.ts';
import { unknownSettings } from '#/settings/unknown-settings.ts';
import { createCommands, overviewOf } from './commands.ts';
import { describeError } from './terminal/describe-error.ts';
import type { Output } from './terminal/output.ts';
import { UsageError } from './terminal/usage-error.ts';

const COMMANDS = createCommands(createReader('gwctl', processEnvironment()));

const isHelp = (arg: string): boolean => arg === '--help' || arg === '-h';

/** Runs a command line. Resolves with the exit status. */
async function main(args: readonly string[], output: Output): Promise<number> {
  const name = [args.slice(0, 2).join(' '), args[0] ?? ''].find((words) => Object.hasOwn(COMMANDS, words));
  if (name === undefined) {
    const asked = args.some(isHelp) || args[0] === 'help';
    if (asked) output.out(overviewOf(COMMANDS));
    else
      output.err(
        args.length === 0
          ? overviewOf(COMMANDS)
          : `gwctl: there is no command "${args.slice(0, 2).join(' ')}". See gwctl --help`,
      );
    return asked ? 0 : 2;
  }
  const rest = args.slice(name.split(' ').length);
  try {
    const { help, run } = await COMMANDS[name]!.load();
    if (!rest.some(isHelp)) {
      refuseMisspelt();
      return await run(rest, output);
    }
    output.out(help.trimEnd());
    return 0;
  } catch (error) {
    const hint = error instanceof UsageError || isParseError(error) ? `. See gwctl ${name} --help` : '';
    output.err(`gwctl: ${describeError(error)}${hint}`);
    return 2;
  }
}

/** Another database or another rate than the one that was meant is worse than none. */
function refuseMisspelt(): void {
  // Scripts around gwctl have variables of that prefix, too: those that look like no setting are theirs.
  const [misspelt] = unknownSettings(processEnvironment()).filter(({ nearest }) => nearest !== undefined);
  if (misspelt)
    throw new UsageError(`${misspelt.name} is not a setting of Gatewarden: did you mean ${misspelt.nearest}?`);
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
