import { createCommands, overviewOf } from '../../src/cli/commands.ts';
import { createReader } from '../../src/settings/reader.ts';
import { page } from './page.ts';

/** What the command line says of itself. */
export async function gwctlPage(): Promise<string> {
  const commands = createCommands(createReader('gwctl', {}));
  const loaded = await Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => ({ name, summary, help: (await load()).help })),
  );
  return page(
    'gwctl',
    'src/cli',
    'Run it from a checkout with `make gwctl ARGS="audit verify"`, or as `gwctl` in an image. Below is what `gwctl --help` and ' +
      '`gwctl COMMAND --help` print.',
    fenced(overviewOf(commands)),
    ...loaded.map(({ name, summary, help }) => `## gwctl ${name}\n\n${summary}.\n\n${fenced(help)}`),
  );
}

function fenced(text: string): string {
  return `\`\`\`\n${text.trimEnd()}\n\`\`\``;
}
