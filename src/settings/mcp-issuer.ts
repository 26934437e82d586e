import { isNearHost } from '#/config/near-host.ts';
import type { Reader } from './reader.ts';

/** An authorization server whose access tokens are taken. */
export interface McpIssuer {
  readonly issuer: string;
  readonly jwksUrl: string;
}

/** Undefined: no access tokens are taken. */
export function readMcpIssuer(reader: Reader): McpIssuer | undefined {
  const issuer = reader.read('GW_MCP_ISSUER');
  const jwksUrl = reader.read('GW_MCP_JWKS_URL');
  if ((issuer === undefined) !== (jwksUrl === undefined))
    reader.faults.push('GW_MCP_ISSUER and GW_MCP_JWKS_URL must be set together');
  if (issuer === undefined || jwksUrl === undefined) return undefined;
  if (reader.text('GW_PUBLIC_URL') === undefined)
    reader.faults.push('GW_MCP_ISSUER needs GW_PUBLIC_URL: access tokens are for an address');
  if (URL.canParse(jwksUrl)) {
    const { protocol, hostname } = new URL(jwksUrl);
    if (protocol !== 'https:' && !isNearHost(hostname)) reader.faults.push('GW_MCP_JWKS_URL must start with https://');
  }
  return { issuer, jwksUrl };
}
