import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Snapshot } from '#/config/snapshot.ts';
import type { Caller } from './endpoint/endpoint.ts';

const HOUR_S = '3600';

/** Origins that any organization lists: a preflight names no key. A snapshot never changes. */
const KNOWN = new WeakMap<Snapshot, ReadonlySet<string>>();

/** Answers a browser that asks whether a page may call. */
export function answerPreflight({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  return reply
    .headers({
      'access-control-allow-origin': headers.origin,
      'access-control-allow-methods': 'GET, POST, DELETE, HEAD',
      'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization, content-type',
      'access-control-max-age': HOUR_S,
      vary: 'Origin, Access-Control-Request-Headers',
    })
    .code(204)
    .send();
}

/** Whether a browser asks for a page that may call: one of an origin that an organization lists. */
export function isPreflight({ method, headers }: FastifyRequest, snapshot: Snapshot | undefined): boolean {
  const { origin } = headers;
  if (
    method !== 'OPTIONS' ||
    origin === undefined ||
    headers['access-control-request-method'] === undefined ||
    !snapshot
  )
    return false;
  let origins = KNOWN.get(snapshot);
  if (!origins) {
    const listed = Array.from(snapshot.organizations.values(), ({ corsOrigins = [] }) => corsOrigins);
    KNOWN.set(snapshot, (origins = new Set(listed.flat())));
  }
  return origins.has(origin);
}

/** Lets the page read the answer, where the organization of its key lists its origin. */
export function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply, { key }: Pick<Caller, 'key'>): void {
  const { corsOrigins } = key.workload.organization;
  const { origin } = headers;
  if (!corsOrigins || origin === undefined || !corsOrigins.includes(origin)) return;
  reply.headers({ 'access-control-allow-origin': origin, 'access-control-expose-headers': '*', vary: 'Origin' });
}
