import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package that a system's records name. */
export interface DebianRecord {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  /** `debian` or `ubuntu`. */
  readonly distribution: string;
}

/** Packages of a root file system, by name: of one that dpkg made, or of one that keeps a record a package. */
export function debianRecords(root: string): readonly DebianRecord[] {
  const one = join(root, 'var/lib/dpkg/status');
  const many = join(root, 'var/lib/dpkg/status.d');
  const files = [
    ...(existsSync(one) ? [one] : []),
    ...(existsSync(many) ? readdirSync(many).map((file) => join(many, file)) : []),
  ];
  const records = files
    .filter((file) => !file.endsWith('.md5sums'))
    .flatMap((file) => readFileSync(file, 'utf8').split(/\n\n+/))
    .flatMap((text) => recordOf(text) ?? []);
  return records.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function recordOf(text: string): DebianRecord | undefined {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1];
  const name = field('Package');
  const version = field('Version');
  if (name === undefined || version === undefined) return undefined;
  if (field('Status')?.endsWith(' installed') === false) return undefined;
  const ubuntu = /ubuntu/i.test(`${field('Maintainer')} ${version}`);
  return { name, version, architecture: field('Architecture') ?? 'all', distribution: ubuntu ? 'ubuntu' : 'debian' };
}
