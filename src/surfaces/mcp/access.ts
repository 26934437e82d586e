import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '#/errors/gateway-error.ts';
import { AccessTokenFault, type AccessTokenChecker } from '#/ports/access-tokens.ts';
import { PATTERNS } from '#/config/resources/schema.ts';
import { unknownServer } from '#/pipeline/tools/find-tool.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import type { KeyStore } from '../endpoint/authenticated-request.ts';
import type { ClientProtocol } from '../endpoint/client-protocol.ts';
import type { Caller } from '../endpoint/endpoint.ts';
import { mcpProtocol } from './protocol.ts';
import { keyOfToken } from './token-keys.ts';

/** How clients with access tokens come in. */
export interface McpAccess {
  readonly checker: AccessTokenChecker;
  /** Where clients reach the gateway, without a slash at its end. */
  readonly publicUrl: string;
}

const SCOPE = 'mcp:tools';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
/** A JSON web token with a signature: no key of ours has this form. */
const TOKEN = /^Bearer +(eyJ[\w-]*\.[\w-]*\.[\w-]*) *$/i;
/** Names of resources. */
const SERVER = new RegExp(PATTERNS.objectName[0]);
const MOST_OF_NAME = 253;
/** How long clients may keep the metadata of a resource. */
const KEPT_SECONDS = 3600;

/** Says where clients get access tokens: the same of every server, be it there or not. // RFC 9728 */
export function mountMetadata(app: FastifyInstance, access: McpAccess): void {
  const { pathname } = new URL(access.publicUrl);
  const path = `${WELL_KNOWN}${pathname === '/' ? '' : pathname}/v1/mcp`;
  for (const url of [path, `${path}/:server`]) {
    app.get(url, async (request, reply) => {
      const server = serverOf(request);
      if (server === null) return reply.code(404).type('text/plain; charset=utf-8').send('Not Found');
      return reply
        .header('cache-control', `public, max-age=${KEPT_SECONDS}`)
        .header('access-control-allow-origin', '*')
        .send({
          resource: resourceOf(access, server),
          authorization_servers: [access.checker.issuer],
          scopes_supported: [SCOPE],
          bearer_methods_supported: ['header'],
          resource_name: 'Gatewarden',
        });
    });
  }
}

/** The name of the server in the path; undefined: all servers; null: it is no name. */
function serverOf({ params }: FastifyRequest): string | undefined | null {
  const { server } = params as { readonly server?: string };
  return server === undefined || (server.length <= MOST_OF_NAME && SERVER.test(server)) ? server : null;
}

/** What a token must be for. // RFC 8707 */
function resourceOf({ publicUrl }: McpAccess, server: string | undefined): string {
  return `${publicUrl}/v1/mcp${server === undefined ? '' : `/${server}`}`;
}

/** Failures with what a client needs to get a token for the path that it asked. */
export function protocolWith(access: McpAccess, request: FastifyRequest): ClientProtocol {
  return {
    ...mcpProtocol,
    failureHeaders(error): Record<string, string> {
      const why = reasonOf(error, request);
      return why === undefined ? {} : { 'www-authenticate': `Bearer ${why}${challenge(access, request)}` };
    },
  };
}

/** Undefined: another token would help nothing. // RFC 6750 3.1 */
function reasonOf({ code, param }: GatewayError, { headers }: FastifyRequest): string | undefined {
  if (code === 'permission_denied' && param === 'scope') return 'error="insufficient_scope", ';
  if (code !== 'invalid_api_key') return undefined;
  return headers.authorization === undefined ? '' : 'error="invalid_token", ';
}

function challenge(access: McpAccess, request: FastifyRequest): string {
  const { origin } = new URL(access.publicUrl);
  const { pathname } = new URL(resourceOf(access, serverOf(request) ?? undefined));
  return `resource_metadata="${origin}${WELL_KNOWN}${pathname}", scope="${SCOPE}"`;
}

/**
 * The caller that a request's access token stands for; undefined: it has none. Throws for one that is not good.
 * `personOf`: how rows name the subject of an issuer.
 */
export async function callerByToken(
  access: McpAccess,
  request: FastifyRequest,
  keys: Pick<KeyStore, 'current' | 'mayHoldId'>,
  personOf: (organization: string, issuer: string, subject: string) => string,
): Promise<Caller | undefined> {
  const token = TOKEN.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  if (request.headers['x-api-key'] !== undefined && request.headers['x-api-key'] !== '')
    throw new GatewayError('invalid_api_key', 'Send an access token or x-api-key, not both.');
  const server = serverOf(request);
  if (server === null) throw unknownServer();
  const claims = await checked(access, token, resourceOf(access, server));
  if (!hasScope(claims)) {
    const message = `The access token does not have the scope ${SCOPE}.`;
    throw new GatewayError('permission_denied', message, { param: 'scope' });
  }
  const snapshot = keys.current();
  if (!snapshot) throw unavailable();
  const key = keyOfToken(claims, snapshot, (id) => keys.mayHoldId(id));
  if (key === 'unknown') throw unavailable();
  const { sub, exp } = claims;
  const { id } = key.workload.organization;
  const person = typeof sub === 'string' ? personOf(id, access.checker.issuer, sub) : undefined;
  return { key, snapshot, subject: token, person, ...(typeof exp === 'number' && { endsAt: exp * 1000 }) };
}

async function checked({ checker }: McpAccess, token: string, resource: string): Promise<JsonObject> {
  try {
    return await checker.check(token, resource);
  } catch (thrown) {
    if (!(thrown instanceof AccessTokenFault)) throw thrown;
    if (thrown.kind === 'bad') throw new GatewayError('invalid_api_key', thrown.message);
    throw unavailable();
  }
}

/** Scopes are a text with blanks; some issuers have them as `scp`, or as a list. */
function hasScope({ scope, scp }: JsonObject): boolean {
  return [scope, scp].some((told) => {
    const scopes: readonly unknown[] = typeof told === 'string' ? told.split(' ') : Array.isArray(told) ? told : [];
    return scopes.includes(SCOPE);
  });
}

function unavailable(): GatewayError {
  const message = 'Access tokens cannot be checked at the moment. The token may be valid. Try again.';
  return new GatewayError('auth_unavailable', message);
}
