const RESERVED = /[{}%]/g;

/** Begins every key of counters and cached answers unless the options say otherwise. */
export const KEY_PREFIX = 'gw:';

/**
 * The key of an organization's open holds. Scripts derive every other key of the organization from it by its last part;
 * all carry the hash tag `{<organization>}`, so Redis Cluster keeps them in one slot.
 */
export function holdsKey(prefix: string, organization: string): string {
  return `${prefix}{${tagOf(organization)}}:holds`;
}

/** The key of an organization's index of cached answers; an answer's own is this with `:<name>` behind it. */
export function answersKey(prefix: string, organization: string): string {
  return `${prefix}{${tagOf(organization)}}:answers`;
}

function tagOf(organization: string): string {
  // An empty hash tag is ignored. A lone `%` cannot clash: other names escape it.
  return organization === '' ? '%' : organization.replace(RESERVED, encodeURIComponent);
}

/** The key of the leases of all gateway processes. */
export function leasesKey(prefix: string): string {
  return `${prefix}leases`;
}

/** Throws RangeError when a prefix would hide the hash tag. */
export function checkPrefix(prefix: string): void {
  if (/[{}]/.test(prefix)) throw new RangeError('a key prefix must not contain braces');
}
