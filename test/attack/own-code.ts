import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { parse, type Program } from 'acorn';

/** A module of the product, parsed. */
export interface OwnModule {
  /** Below the repository: `src/wire/document/scan.ts`. */
  readonly file: string;
  readonly program: Program;
}

export const ROOT = new URL('../../', import.meta.url).pathname;

/** Every module that runs in a process of the product; tests and what they share are left out. */
export function ownModules(): readonly OwnModule[] {
  return globSync('{src,inference,operators}/**/*.ts', { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\.d\.ts$|\/testing\//.test(file))
    .sort()
    .map((file) => {
      // Types become blanks, so that lines stay the same.
      const code = stripTypeScriptTypes(readFileSync(`${ROOT}${file}`, 'utf8'), { mode: 'strip' });
      const program = parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
      return { file, program };
    });
}
