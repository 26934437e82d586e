// An authorization server: access tokens are JWTs for the resource that is asked for. Says its address when it is ready.
// CLIENTS: JSON of `{id: {secret, claims}}`, `claims` being members of each of its tokens. TTL: seconds that a token holds.
import { createServer } from 'node:http';
import { generateKeyPairSync } from 'node:crypto';
import Provider from 'oidc-provider';

const clients = JSON.parse(process.env.CLIENTS ?? '{}');
const accessTokenTTL = Number(process.env.TTL ?? 3600);
const SCOPES = 'mcp:tools crm.read';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'first' }] },
    clients: Object.entries(clients).map(([client_id, { secret }]) => ({
      client_id,
      client_secret: secret,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      scope: SCOPES,
    })),
    scopes: SCOPES.split(' '),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          scope: SCOPES,
          audience: resource,
          accessTokenTTL,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_context, token) => clients[token.clientId]?.claims,
  });
  server.on('request', provider.callback());
  console.log(issuer);
});
