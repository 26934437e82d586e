import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Random } from './random.ts';
import { technical } from './technical.ts';
import type { Labelled, Reading } from './texts.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const NAMES_OF_FIELDS =
  'user_id username user login password account account_id user_name pin credentials session access_token login_at passcode'.split(
    ' ',
  );

/** Lines of code, settings, logs, transcripts and instructions, none of which names a login or a password. */
const LINES = readFileSync(path.join(import.meta.dirname, 'sentences/agents.txt'), 'utf8')
  .split('\n')
  .filter(Boolean);

/** A few such lines, with names of code and words in them. */
export function agentsText(random: Random, { vocabulary, glossary }: Reading): Labelled {
  const slot = (name: string): string => {
    switch (name) {
      case 'W':
        return random.pick(random.next() < 0.7 ? vocabulary.words : glossary);
      case 'Y':
        return random.pick(NAMES_OF_FIELDS);
      case 'D':
        return String(random.below(random.next() < 0.5 ? 100 : 100_000));
      case 'T':
        return `${2020 + random.below(8)}-${random.digits(2)}-${random.digits(2)}T${random.digits(2)}:${random.digits(2)}:${random.digits(2)}Z`;
      default:
        return technical(random);
    }
  };
  const lines = Array.from({ length: 1 + random.below(4) }, () =>
    random
      .pick(LINES)
      .replace(/\{([A-Z])\}/g, (_, name: string) => slot(name))
      .replaceAll('⏎', '\n'),
  );
  return { text: lines.join(random.pick(['\n', '\n', '\n\n', ' '])).replace(/[‹›]/g, ''), spans: [] };
}

/** Code, settings and pages of this tree, in pieces; tests, and pages and code about logins, are left out. */
export function textsOfTree(): readonly string[] {
  const files = ['docs', 'src', 'inference', 'operators', 'charts', 'k8s']
    .flatMap((folder) => globSync(`${folder}/**/*.{md,ts,yaml,json,py,sh}`, { cwd: ROOT }))
    .filter((file) => !/test|inspect|detector|login|password|reference|training|node_modules|messages/.test(file))
    .toSorted();
  return files.flatMap((file) => {
    const text = readFileSync(path.join(ROOT, file), 'utf8').slice(0, 40_000);
    return text.split(/\n(?=\n)/).filter((piece) => piece.length > 20);
  });
}
