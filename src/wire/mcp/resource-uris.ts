import { leadsAway, readingsOf } from '../document/address-steps.ts';

/** Longest address of a resource, in UTF-16 code units. */
export const MOST_URI = 4096;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]{0,63}):./s;
/** Schemes whose addresses clients run or show as they come: no server is asked for them. */
const ACTIVE: ReadonlySet<string> = new Set(['about', 'blob', 'data', 'javascript', 'vbscript', 'view-source']);
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\\]/u;
/** What separates the steps of an address: schemes use more signs than slashes. */
const BETWEEN_STEPS = /[/\\:=?#&]/;

/** Why an address of a resource, or a template of addresses, is neither listed nor read: the end of a sentence. */
export function uriFault(uri: string, of: 'resource' | 'template'): string | undefined {
  if (uri.length > MOST_URI) return `must have at most ${MOST_URI} characters`;
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase();
  // A template may begin with a variable: the address that is made of it is looked at when it is read.
  if (scheme === undefined && !(of === 'template' && uri.startsWith('{'))) return 'must begin with a scheme';
  if (scheme !== undefined && ACTIVE.has(scheme)) return `must not have the scheme ${scheme}`;
  if (UNSEEN.test(uri)) return 'must not have control characters, invisible characters or backslashes';
  // What policy allows by its beginning must not lead elsewhere.
  if (readingsOf(uri).some((reading) => leadsAway(reading, BETWEEN_STEPS)))
    return 'must not have the steps . or .., or control characters, also where they are encoded';
  return undefined;
}

const FEDERATED = /^gw-([a-z0-9][a-z0-9-]{0,15})\+(.+)$/s;

/**
 * The address of a resource where several servers are offered together: `gw-crm+file:///a`. A prefix has no plus sign, so
 * that the first one ends it, whatever addresses a server makes up.
 */
export function federatedUri(prefix: string, uri: string): string {
  return `gw-${prefix}+${uri}`;
}

/** The prefix of the server and its own address; undefined: it has another form. */
export function readFederatedUri(uri: string): { readonly prefix: string; readonly uri: string } | undefined {
  const found = FEDERATED.exec(uri);
  return found ? { prefix: found[1]!, uri: found[2]! } : undefined;
}

/** Whether an address could be taken for one of several servers. */
export function looksFederated(uri: string): boolean {
  return /^\s*gw-/i.test(uri);
}
