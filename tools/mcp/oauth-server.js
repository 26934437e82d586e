// An authorization server: access tokens are JWTs for the resource that is asked for. Says its address when it is ready.
// It exchanges tokens of its own for one of a client that acts for the user of the first.
// CLIENTS: JSON of `{id: {secret, claims}}`, `claims` being members of each of its tokens. TTL: seconds that a token holds.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import Provider from 'oidc-provider';

const clients = JSON.parse(process.env.CLIENTS ?? '{}');
const accessTokenTTL = Number(process.env.TTL ?? 3600);
const SCOPES = 'mcp:tools crm.read';
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const server = createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'first' }] },
    clients: Object.entries(clients).map(([client_id, { secret }]) => ({
      client_id,
      client_secret: secret,
      grant_types: ['client_credentials', EXCHANGE],
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
  const exchange = async (context) => {
    const { subject_token, resource, scope } = context.oidc.params;
    const { payload } = await jwtVerify(subject_token, publicKey, { issuer }).catch(() => ({}));
    const client_id = context.oidc.client.clientId;
    if (!payload || payload.client_id === process.env.UNTRUSTED) {
      context.status = 400;
      context.body = { error: 'invalid_grant', error_description: subject_token };
      return;
    }
    const claims = { sub: payload.sub, client_id, scope, act: { sub: client_id } };
    const token = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first', typ: 'at+jwt' });
    context.body = {
      access_token: await token
        .setIssuer(issuer)
        .setAudience(resource)
        .setExpirationTime('1h')
        .setJti(randomUUID())
        .sign(privateKey),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: accessTokenTTL,
    };
  };
  const parameters = ['subject_token', 'subject_token_type', 'requested_token_type', 'resource', 'scope'];
  provider.registerGrantType(EXCHANGE, exchange, parameters, []);
  server.on('request', provider.callback());
  console.log(issuer);
});
