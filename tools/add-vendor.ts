import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VENDOR_IDS } from '../src/vendors/list.ts';

const LIST = 'src/vendors/list.ts';
const MATRIX = 'test/matrix/kinds/chat-vendors.ts';
/** Files of the folder that are no vendor's, slugs that are taken, words that JavaScript keeps for itself. */
const RESERVED = new Set([
  ...['list', 'rules', 'vendor', 'efforts', 'gw', 'sandbox'],
  ...['await', 'break', 'case', 'catch', 'class', 'const', 'continue', 'debugger', 'default', 'delete', 'do', 'else'],
  ...['enum', 'export', 'extends', 'false', 'finally', 'for', 'function', 'if', 'implements', 'import', 'in'],
  ...['instanceof', 'interface', 'let', 'new', 'null', 'package', 'private', 'protected', 'public', 'return', 'static'],
  ...['super', 'switch', 'this', 'throw', 'true', 'try', 'typeof', 'var', 'void', 'while', 'with', 'yield'],
]);

/** Why a vendor cannot be added under this name; undefined: it can. */
export function refusalOf(name: string): string | undefined {
  if (name === '') return 'say which vendor: make add-vendor NAME=acme';
  if (!/^[a-z][a-z0-9]{1,31}$/.test(name)) {
    return `the name '${name}' must be 2 to 32 lower-case letters and digits, a letter first: it is the id of the vendor`;
  }
  if (RESERVED.has(name)) return `the name '${name}' is reserved: choose another one`;
  if ((VENDOR_IDS as readonly string[]).includes(name))
    return `the vendor '${name}' exists: see src/vendors/${name}.ts`;
  return undefined;
}

/** What a new vendor changes: texts by their paths. `read` gives a file as it is. Throws an Error where there is no place for a line. */
export function filesOf(name: string, read: (path: string) => string): ReadonlyMap<string, string> {
  const file = `src/vendors/${name}.ts`;
  return new Map([
    [file, skeleton(name)],
    [LIST, listed(name, read(LIST))],
    [
      MATRIX,
      before("  chatVendor('custom', {", `  chatVendor('${name}', { model: '${name}-large' }),`, MATRIX, read(MATRIX)),
    ],
  ]);
}

function listed(name: string, text: string): string {
  const line = `import { ${name} } from './${name}.ts';`;
  const next = text.split('\n').find((other) => other.startsWith('import ') && sourceOf(other) > `./${name}.ts`);
  return before('  custom,', `  ${name},`, LIST, before(next ?? '\nconst LISTED', line, LIST, text));
}

function sourceOf(line: string): string {
  return /from '([^']+)'/.exec(line)?.[1] ?? '';
}

function before(mark: string, line: string, path: string, text: string): string {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`${path} has no line that begins with ${mark.trim()}`);
  return `${text.slice(0, at)}${line}\n${text.slice(at)}`;
}

function skeleton(name: string): string {
  const host = `api.${name}.example`;
  return `import { chatMembers, messageMembers } from './rules.ts';
import type { CompatibleVendor } from './vendor.ts';

export const ${name}: CompatibleVendor<'${name}'> = {
  id: '${name}',
  name: '${name[0]!.toUpperCase()}${name.slice(1)}',
  protocol: 'chat_completions',
  families: ['chat'],
  address: 'https://${host}/v1',
  hosts: { '${host}': 'GLOBAL' },
  credentials: ['api_key'],
  promptCache: 'none',
  traits: { audio: false },
  rules: {
    chat: {
      members: chatMembers(),
      messageMembers: messageMembers(),
      streamOptions: 'usage',
    },
  },
  prices: { litellm: [], modelsDev: [] },
  sample: {},
};
`;
}

if (import.meta.main) {
  const name = process.argv[2] ?? '';
  const root = join(import.meta.dirname, '..');
  const refusal = refusalOf(name);
  if (refusal === undefined) {
    const files = filesOf(name, (path) => readFileSync(join(root, path), 'utf8'));
    for (const [path, text] of files) writeFileSync(join(root, path), text);
    console.log([...files.keys()].map((path) => `wrote ${path}`).join('\n'));
    console.log(
      `Now state in src/vendors/${name}.ts what the documentation of ${name} says: docs/internals/adding-a-vendor.md`,
    );
  } else {
    console.error(`add-vendor: ${refusal}`);
    process.exitCode = 2;
  }
}
