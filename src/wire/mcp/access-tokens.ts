import { hash } from 'node:crypto';

/** Several spellings of one signature are the same token: the signed part is spelled in one way only. */
export function digestOfToken(token: string): string {
  const [header, payload] = token.split('.', 2);
  return hash('sha256', `${header}.${payload}`, 'base64url');
}
