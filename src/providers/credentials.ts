import type { CredentialConfig } from '#config/snapshot.ts';

/** Spreads calls over credentials by weight; weight 0 is never used while another is there. Undefined: there is none. */
export function pickCredential(credentials: readonly CredentialConfig[]): CredentialConfig | undefined {
  if (credentials.length <= 1) return credentials[0];
  const total = credentials.reduce((sum, credential) => sum + credential.weight, 0);
  let at = Math.random() * total;
  for (const credential of credentials) {
    at -= credential.weight;
    if (at < 0) return credential;
  }
  return credentials.at(-1);
}
