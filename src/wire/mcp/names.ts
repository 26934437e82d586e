import { hash } from 'node:crypto';

/** Longest name that clients can take: 64 characters, less what they put before it (`mcp__gatewarden__`). */
const MOST_NAME = 47;
const KEPT = 40;
const DIGEST = 6;
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * What a tool is called where several servers are offered together: `crm__find_customer`. A name that is too long, or has
 * characters that clients do not take, ends with a digest of the whole. Names are looked up in a table, never taken apart.
 * A prefix has at most 16 characters and no underscore, so that every name begins with the whole prefix and `__`: whatever a
 * server calls its tools, no name of it is one of another server.
 */
export function federatedName(prefix: string, tool: string): string {
  const whole = `${prefix}__${tool}`;
  if (whole.length <= MOST_NAME && /^[A-Za-z0-9_-]+$/.test(whole)) return whole;
  return `${whole.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, KEPT)}_${digestOf(whole)}`;
}

function digestOf(text: string): string {
  const bytes = hash('sha256', text, 'buffer');
  let bits = bytes.readUIntBE(0, 4) >>> 2;
  let digest = '';
  for (let at = 0; at < DIGEST; at++) {
    digest = BASE32[bits & 31]! + digest;
    bits >>>= 5;
  }
  return digest;
}
