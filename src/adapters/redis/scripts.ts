import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A Lua script, run atomically by the store. Its one declared key names the organization (or the leases). */
export interface Script {
  readonly source: string;
  /** SHA-1 (hex) of the source, by which the store knows it. */
  readonly sha: string;
}

export type ScriptName =
  | 'hold'
  | 'settle'
  | 'pause'
  | 'lost'
  | 'resume'
  | 'release'
  | 'view'
  | 'page'
  | 'find'
  | 'credit'
  | 'mark'
  | 'owners'
  | 'lease'
  | 'put-back'
  | 'claim';

/** Reads the scripts next to this file, once per process. */
export function loadScripts(): Readonly<Record<ScriptName, Script>> {
  return {
    hold: load('clock', 'closed', 'decimal', 'window', 'hold'),
    settle: load('clock', 'closed', 'window', 'settle'),
    pause: load('pause'),
    lost: load('clock', 'closed', 'lost'),
    resume: load('decimal', 'resume'),
    release: load('release'),
    view: load('clock', 'closed', 'view'),
    page: load('page'),
    find: load('find'),
    credit: load('credit'),
    mark: load('mark'),
    owners: load('owners'),
    lease: load('clock', 'lease'),
    'put-back': load('clock', 'closed', 'put-back'),
    claim: load('claim'),
  };
}

/** A script of these files, one after the other. */
export function load(...files: string[]): Script {
  const source = files.map((file) => readFileSync(new URL(`./${file}.lua`, import.meta.url), 'utf8')).join('\n');
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}
