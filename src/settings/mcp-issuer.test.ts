import { expect, test } from 'vitest';
import { readSettings } from './gateway-settings.ts';

const ISSUER = { GW_MCP_ISSUER: 'https://id.example', GW_PUBLIC_URL: 'https://gw.example' };

test.each([
  ['https://sts.example,https://two.example:8443', ['https://sts.example', 'https://two.example:8443']],
  ['http://127.0.0.1:9,http://[::1]:9,http://localhost', ['http://127.0.0.1:9', 'http://[::1]:9', 'http://localhost']],
  ['HTTPS://sts.example', undefined],
  ['http://sts.example', undefined],
  ['http://sts.auth.svc', undefined],
  ['https://sts.example,http://sts.auth.svc', undefined],
  ['http://127.1.2.3', ['http://127.1.2.3']],
  ['http://127.0.0.999', undefined],
  ['https://sts.example/', undefined],
  ['https://good.example@evil.example', undefined],
  ['https://good.example\\evil', undefined],
  ['https://[', undefined],
  ['*', undefined],
])('tokens of users may be sent to %s', (written, origins) => {
  const read = readSettings({ ...ISSUER, GW_MCP_JWKS_URL: 'https://id.example/jwks', GW_MCP_TOKEN_ORIGINS: written });
  const all = 'settings' in read ? read.settings.mcpIssuer?.tokenOrigins : undefined;
  expect(all).toEqual(origins && [...origins, 'https://id.example']);
  // An origin that cannot be used stops the start, and is not dropped.
  if (!origins)
    expect('faults' in read && read.faults).toEqual([expect.stringMatching(/^GW_MCP_TOKEN_ORIGINS must be/)]);
});

test.each<[string, boolean]>([
  ['https://gw.example', true],
  ['https://gw.example///', true],
  ['https://gw.example:8443/base/', true],
  ['https://gw.example/a/b', true],
  ['https://gw.example:443', false],
  ['https://GW.example', false],
  ['https://user@gw.example', false],
  ['https://gw.example/?a', false],
  ['https://gw.example/#a', false],
  ['https://gw.example/a/../b', false],
  ['https://gw.example/a b', false],
  ['https://gw.example/:server', false],
  ['https://gw.example/*', false],
  ['https://gw.example/@me', false],
])('tokens may be for %s: %s', (publicUrl, isGood) => {
  const read = readSettings({ ...ISSUER, GW_MCP_JWKS_URL: 'https://id.example/jwks', GW_PUBLIC_URL: publicUrl });
  expect('faults' in read ? read.faults : []).toEqual(
    isGood ? [] : [expect.stringMatching(/^GW_PUBLIC_URL must be written/)],
  );
  expect('faults' in readSettings({ GW_PUBLIC_URL: publicUrl })).toBe(false);
});

test('tokens of users are not sent to an issuer in clear', () => {
  const issuer = { ...ISSUER, GW_MCP_ISSUER: 'http://id.auth.svc', GW_MCP_JWKS_URL: 'http://id.auth.svc/jwks' };
  const read = readSettings(issuer);
  expect('settings' in read && read.settings.mcpIssuer?.tokenOrigins).toEqual([]);
});

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
