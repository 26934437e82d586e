import { table, type Row } from './table.ts';

/** Where the page is, from the root of the repository. */
export const PAGE = 'docs/prove/specification.md';

const HEAD = `# Sentence by sentence

Written by \`make spec-page\`; \`make test-spec\` fails when it is stale. Each row is a sentence of the service's specification, or a row
of one of its tables, by its section and its running number there, with its proof: tests in \`test/spec\`, which ask a real
gateway over HTTP, or a test of another suite that needs its own setup. The hash is of the sentence: a changed or
new sentence fails the suite until a person has reviewed it.

`;

/** What the sections are about, in our words. */
const ABOUT: Readonly<Record<string, string>> = {
  '1': 'what the service does',
  '2.1': 'the list of models',
  '2.2': 'requests of the chat surface',
  '2.3': 'answers of the chat surface',
  '2.4': 'text recognition',
  '2.5': 'anonymized documents',
  '2.6': 'typed decisions',
  '2.7': 'the messages surface',
  '2.8': 'workloads and keys',
  '3': 'states',
  '4': 'addresses and bodies',
  '4.1': 'endpoints',
  '4.2': 'bodies that are left open, and pictures',
  '4.3': 'reasoning, caches, documents, sound',
  '4.4': 'rules of typed decisions',
  '4.5': 'rules of the messages surface',
  '5': 'authentication',
  '6.1': 'streams of the chat surface',
  '6.2': 'streams of the messages surface',
  '6.3': 'other events',
  '7.1': 'errors of the chat surface',
  '7.2': 'errors of the messages surface',
  '8': 'limits',
  '9': 'versions',
};

/** The page as it is to be. */
export function page(): string {
  const rows = table();
  const count = (state: Row['state']): number => rows.filter((row) => row.state === state).length;
  const sums = [
    `${rows.length} sentences: ${count('tested')} tested here, ${count('elsewhere')} by a test of another suite,`,
    `${count('measured')} measured, ${count('no promise')} promise nothing, ${count('does not hold')} do not hold, or not wholly.`,
  ].join('\n');
  const sections = Map.groupBy(rows, ({ id }) => id.split('/')[0] ?? '');
  const parts = [...sections].map(([section, its]) => `## ${section}: ${ABOUT[section] ?? 'new'}\n\n${tableOf(its)}`);
  return `${HEAD}${sums}\n\n${parts.join('\n\n')}\n`;
}

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ id, hash, state, tests, note }) => {
    const proof = [...(note === undefined ? [] : [note]), ...tests.map(({ file, title }) => `${title} (\`${file}\`)`)];
    return `| ${id} | ${hash} | ${state} | ${proof.join('; ').replaceAll('|', '\\|')} |`;
  });
  return ['| sentence | hash | state | by |', '| --- | --- | --- | --- |', ...lines].join('\n');
}
