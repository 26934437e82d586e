import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { closure, packageIn, type Lock } from './lock.ts';
import { isUsed, PROGRAMS } from './programs.ts';
import { reach } from './reach.ts';
import { debianRecords } from './debian.ts';
import { sbom } from './sbom.ts';

/**
 * assemble.ts PROGRAM OUT BASE: puts what the image of a program holds into the folder OUT: in `/app` its files and packages,
 * Node.js, and the bill of materials. BASE: files of the base image. Run from the repository's root, with packages installed.
 */
function assemble(name: string, out: string, base: string): void {
  const program = PROGRAMS[name];
  if (!program) throw new Error(`unknown program ${name}; known: ${Object.keys(PROGRAMS).join(', ')}`);
  const root = process.cwd();
  const { files, packages } = reach(root, program.entries, program.leave);
  const assets = globSync(program.assets, { cwd: root })
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
  for (const path of ['package.json', ...files, ...assets]) copy(join(root, path), join(out, 'app', path));
  const { packages: lock } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { readonly packages: Lock };
  const there = (folder: string): boolean => existsSync(join(root, folder, 'package.json'));
  const node = `node-linux-${process.arch}`;
  const folders = closure(lock, [...new Set([...packages, ...program.packages])], there);
  for (const folder of folders) copyPackage(root, folder, join(out, 'app'));
  copy(join(root, 'node_modules', node, 'bin/node'), join(out, 'usr/local/bin/node'), 0o755);
  copy(join(root, 'node_modules', node, 'LICENSE'), join(out, 'usr/local/share/doc/node/LICENSE'));
  for (const path of globSync(program.system, { cwd: '/' })) copy(join('/', path), join(out, path));
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  const bill = sbom({
    name: name === 'gateway' ? 'gatewarden' : `gatewarden-${name}`,
    version,
    epoch: Number(process.env['SOURCE_DATE_EPOCH'] || 0),
    lock,
    folders: [...folders, `node_modules/${node}`],
    debian: [...debianRecords(base), ...debianRecords('/').filter(({ name: one }) => program.debian.includes(one))],
  });
  const place = join(out, 'usr/local/share/sbom');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'gatewarden.spdx.json'), `${JSON.stringify(bill, undefined, 1)}\n`, { mode: 0o644 });
}

function copyPackage(root: string, folder: string, out: string): void {
  const name = packageIn(folder);
  const options = { cwd: join(root, folder), exclude: ['node_modules/**'] };
  for (const path of globSync(['**/*', '**/.*/**'], options)) {
    const from = join(root, folder, path);
    if (statSync(from).isFile() && isUsed(name, path)) copy(from, join(out, folder, path));
  }
}

/** With the same rights everywhere, whatever the umask was where it was checked out. */
function copy(from: string, to: string, mode = 0o644): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  chmodSync(to, mode);
}

const [name = '', out = '', base = ''] = process.argv.slice(2);
process.umask(0o022);
assemble(name, out, base);
