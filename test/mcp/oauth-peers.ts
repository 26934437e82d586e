import { spawn } from 'node:child_process';
import { join } from 'node:path';

const PEERS = join(import.meta.dirname, '../../tools/mcp');

export interface OAuthServer extends AsyncDisposable {
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly jwksUrl: string;
  /** An access token of a client for a resource. */
  token(client: string, resource: string): Promise<string>;
}

export interface OAuthClients {
  readonly [id: string]: { readonly secret: string; readonly claims?: Readonly<Record<string, unknown>> };
}

/** Starts the authorization server of `tools/mcp`. */
export async function startOAuthServer(clients: OAuthClients, env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(PEERS, 'oauth-server.js')], {
    env: { PATH: process.env['PATH'], CLIENTS: JSON.stringify(clients), ...env },
  });
  const issuer = await new Promise<string>((resolve, reject) => {
    let said = '';
    const hear = (bytes: Buffer): void => {
      said += bytes.toString();
      const found = /^http:\/\/127\.0\.0\.1:\d+$/m.exec(said);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`the authorization server ended with ${code}: ${said}`)));
  });
  const tokenUrl = `${issuer}/token`;
  const server: OAuthServer = {
    issuer,
    tokenUrl,
    jwksUrl: `${issuer}/jwks`,
    async token(client, resource) {
      const basic = [client, clients[client]?.secret ?? ''].map(encodeURIComponent).join(':');
      const response = await fetch(tokenUrl, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(basic).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials', resource, scope: 'mcp:tools' }),
      });
      const { access_token: token } = (await response.json()) as { readonly access_token: string };
      return token;
    },
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
  return server;
}

/** The claims of a token, unchecked. */
export function claimsOf(authorization: string | undefined): Record<string, unknown> {
  const [, payload = ''] = (authorization ?? '').split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}') as Record<string, unknown>;
}
