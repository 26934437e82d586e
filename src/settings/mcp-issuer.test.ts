import { expect, test } from 'vitest';
import { readSettings } from './gateway-settings.ts';

const ISSUER = { GW_MCP_ISSUER: 'https://id.example', GW_PUBLIC_URL: 'https://gw.example' };

test.each<[Record<string, string>, readonly string[]]>([
  [{ ...ISSUER, GW_MCP_JWKS_URL: 'https://id.example/jwks' }, []],
  [{ ...ISSUER, GW_MCP_JWKS_URL: 'http://id.auth.svc/jwks' }, []],
  [ISSUER, ['GW_MCP_ISSUER and GW_MCP_JWKS_URL must be set together']],
  [{ GW_MCP_JWKS_URL: 'https://id.example/jwks' }, ['GW_MCP_ISSUER and GW_MCP_JWKS_URL must be set together']],
  [{ ...ISSUER, GW_MCP_JWKS_URL: 'http://id.example/jwks' }, ['GW_MCP_JWKS_URL must start with https://']],
  [
    { GW_MCP_ISSUER: 'https://id.example', GW_MCP_JWKS_URL: 'https://id.example/jwks' },
    ['GW_MCP_ISSUER needs GW_PUBLIC_URL: access tokens are for an address'],
  ],
])('%j', (env, faults) => {
  const read = readSettings(env);
  expect('faults' in read ? read.faults : []).toEqual(faults);
  expect('settings' in read && read.settings.mcpIssuer !== undefined).toBe(faults.length === 0);
});
