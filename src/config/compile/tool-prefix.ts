import { hash } from 'node:crypto';

/** A prefix has no underscore: the first `__` of a federated name always ends it, so that no other server has that name. */
const PREFIX = /^[a-z0-9][a-z0-9-]{0,15}$/;
const KEPT = 9;
const DIGEST = 6;

/**
 * The prefix of a server that names none: its name, or, where that is too long for a prefix or has dots, the beginning of the
 * name, a dash and a digest of the whole.
 */
export function defaultPrefix(name: string): string {
  if (PREFIX.test(name)) return name;
  const begin = name.slice(0, KEPT).replaceAll(/[.-]+/g, '-').replace(/-$/, '');
  return `${begin}-${hash('sha256', name, 'hex').slice(0, DIGEST)}`;
}
