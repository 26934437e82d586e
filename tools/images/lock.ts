/** A package as `package-lock.json` has it, by its folder from the repository's root. */
interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Package by folder: `node_modules/a/node_modules/b`. */
export type Lock = Readonly<Record<string, LockedPackage>>;

/**
 * Folders of the packages that are named and of all that they need, in order. `there` tells whether a folder was installed:
 * an optional package may be missing. Throws when one that is needed is.
 */
export function closure(lock: Lock, names: readonly string[], there: (folder: string) => boolean): readonly string[] {
  const found = new Set<string>();
  const take = (from: string, name: string, needed: boolean): void => {
    const folder = resolve(lock, from, name);
    if (folder === undefined || !there(folder)) {
      if (needed) throw new Error(`${name} is needed by ${from || 'the program'} and not installed`);
      return;
    }
    if (found.has(folder)) return;
    found.add(folder);
    const { dependencies, optionalDependencies = {}, peerDependencies, peerDependenciesMeta } = lock[folder] ?? {};
    for (const each of Object.keys(dependencies ?? {})) take(folder, each, !(each in optionalDependencies));
    for (const each of Object.keys(optionalDependencies)) take(folder, each, false);
    for (const each of Object.keys(peerDependencies ?? {})) {
      if (!peerDependenciesMeta?.[each]?.optional) take(folder, each, true);
    }
  };
  for (const name of names) take('', name, true);
  return [...found].sort();
}

/** `@a/b` of `node_modules/c/node_modules/@a/b`. */
export function packageIn(folder: string): string {
  return folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

/** Where Node.js finds a package that a folder asks for: in it, or in the nearest folder above. */
function resolve(lock: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    const found = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (found in lock) return found;
    if (folder === '') return undefined;
  }
}
