import { isLoopback, isNearHost } from '#/config/near-host.ts';
import type { Reader } from './reader.ts';

/** An authorization server whose access tokens are taken. */
export interface McpIssuer {
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Origins of token endpoints that its tokens may be sent to. */
  readonly tokenOrigins: readonly string[];
}

/** Undefined: no access tokens are taken. */
export function readMcpIssuer(reader: Reader): McpIssuer | undefined {
  const issuer = reader.read('GW_MCP_ISSUER');
  const jwksUrl = reader.read('GW_MCP_JWKS_URL');
  if ((issuer === undefined) !== (jwksUrl === undefined))
    reader.faults.push('GW_MCP_ISSUER and GW_MCP_JWKS_URL must be set together');
  const tokenOrigins = readTokenOrigins(reader, issuer);
  if (issuer === undefined || jwksUrl === undefined) return undefined;
  const publicUrl = reader.text('GW_PUBLIC_URL');
  if (publicUrl === undefined)
    reader.faults.push('GW_MCP_ISSUER needs GW_PUBLIC_URL: access tokens are for an address');
  else if (!isAudience(publicUrl.replace(/(?<!\/)\/+$/, '')))
    reader.faults.push(
      'GW_PUBLIC_URL must be written as clients send it where GW_MCP_ISSUER is set: https://host/path, without a default port, and none of @ ? # : * in the path',
    );
  if (URL.canParse(jwksUrl)) {
    const { protocol, hostname } = new URL(jwksUrl);
    if (protocol !== 'https:' && !isNearHost(hostname)) reader.faults.push('GW_MCP_JWKS_URL must start with https://');
  }
  return { issuer, jwksUrl, tokenOrigins };
}

/** Whether `aud` of tokens can be this address, character by character, and its path can be a route. */
function isAudience(address: string): boolean {
  const url = URL.parse(address);
  if (!url) return false;
  const path = url.pathname === '/' ? '' : url.pathname;
  return address === url.origin + path && !/[@?#:*]/.test(path);
}

/** The origins that are named, and that of the issuer. None of them is asked in clear, except on this machine. */
function readTokenOrigins(reader: Reader, issuer: string | undefined): readonly string[] {
  const named = reader.read('GW_MCP_TOKEN_ORIGINS') ?? [];
  if (!named.every((origin) => URL.canParse(origin)))
    reader.faults.push('GW_MCP_TOKEN_ORIGINS must be origins of token endpoints: https://one.example');
  const urls = [...named, issuer].flatMap((address) => (address === undefined ? [] : (URL.parse(address) ?? [])));
  return urls
    .filter(({ protocol, hostname }) => protocol === 'https:' || isLoopback(hostname))
    .map(({ origin }) => origin);
}
