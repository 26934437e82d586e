import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { CallContext } from '#/call/call.ts';
import type { PassthroughCall, PassthroughBody } from '#/call/passthrough-call.ts';
import { isForm, isJson, unsupported, type IncomingBody } from '../body/incoming-body.ts';
import { knows, type KeyStore } from '../endpoint/authenticated-request.ts';
import { speaksMessages } from '../messages/protocol.ts';
import { providerOf, readBody, servePassthrough, type PassthroughDeps, type ReadPassthrough } from './passthrough.ts';

export interface AnyPathDeps extends PassthroughDeps {
  readonly keys: KeyStore;
}

const METHODS: readonly PassthroughCall['method'][] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const ROOT = '/v1/';
/** Its route. */
export const ANY_PATH = `${ROOT}*`;
/** A segment of a path: it is sent unchanged, so it contains nothing that two readers could read differently. */
const STEP = /^(?!\.{1,2}$)[A-Za-z0-9._:@+=,-]{1,256}$/;
const MOST_STEPS = 12;
/** What the gateway answers itself, and what administers an account. // spec 4.5.5 */
const NEVER: ReadonlySet<string> = new Set([
  'admin',
  'billing',
  'dashboard',
  'decisions',
  'documents',
  'mcp',
  'messages',
  'models',
  'organization',
  'organizations',
  'systemone',
  'usage',
  'v1',
]);
/** Words of a path; anything else in it may be an id. */
const WORD = /^[a-z]+(?:_[a-z]+)*$/;
/** Bodies that are bytes and nothing else: a text of any type could be read as JSON, past inspection. */
const BYTES = /^(?:(?:audio|image|video|font)\/|application\/(?:octet-stream|pdf|zip|gzip)(?=[\t ;]|$))/i;
const CONTENT_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,128}/;

/** Whatever else stands below /v1 goes to the provider that is named, where policy opens it. // spec 1.3 */
export function mountAnyPath(app: FastifyInstance, deps: AnyPathDeps): void {
  app.route({
    method: [...METHODS],
    url: ANY_PATH,
    onRequest: async (request, reply) => {
      if (!isMeant(request, deps)) {
        reply.callNotFound();
        return reply;
      }
      deps.authenticate(request, reply);
    },
    handler: async (request, reply) => {
      const read: ReadPassthrough = (context, body) => passthroughOf(request, context, body);
      await servePassthrough(request, reply, 'passthrough', read, deps);
    },
  });
}

/** Whether a request means a provider: it names one, or its caller may ask for the path and its body can name a model. */
function isMeant({ url, headers, method }: FastifyRequest, { keys }: AnyPathDeps): boolean {
  const [path = ''] = url.split('?', 1);
  const word = path.slice(ROOT.length).split('/', 1)[0] ?? '';
  if (NEVER.has(word) || speaksMessages(path)) return false;
  if (headers['x-gw-provider'] !== undefined) return true;
  const type = headers['content-type'] ?? '';
  if (method === 'GET' || !(isJson(type) || isForm(type))) return false;
  return knows(headers, keys)?.workload.policy.passthrough.has(word) === true;
}

async function passthroughOf(
  request: FastifyRequest,
  context: CallContext,
  incoming: IncomingBody,
): Promise<PassthroughCall> {
  const { url, headers } = request;
  const method = request.method as PassthroughCall['method'];
  if (headers.upgrade !== undefined) {
    throw new GatewayError('invalid_request', 'Connection upgrades are not supported. Send an ordinary request.');
  }
  const at = url.indexOf('?');
  const path = at < 0 ? url : url.slice(0, at);
  const steps = path.slice(ROOT.length).split('/');
  if (steps.length > MOST_STEPS || !steps.every((step) => STEP.test(step))) throw badPath();
  const [word = ''] = steps;
  const isFree = method === 'GET' || method === 'DELETE';
  return {
    ...context,
    method,
    path: url.slice(ROOT.length - 1),
    provider: providerOf(context.headers),
    gate: { word, isKnown: false, isFree },
    quantities: [],
    ownKeyOnly: true,
    prefixIds: false,
    objects: { kind: 'object', act: method === 'POST' ? 'make' : 'name' },
    objectId: undefined,
    namedIds: steps.slice(1).filter((step) => !WORD.test(step)),
    body: await bodyOf(incoming),
  };
}

async function bodyOf(incoming: IncomingBody): Promise<PassthroughBody> {
  const { contentType, length } = incoming;
  if (!incoming.present || isForm(contentType) || isJson(contentType)) return readBody(incoming);
  if (!BYTES.test(contentType)) {
    throw unsupported('The request body must be JSON, a form, or binary, such as audio/wav.');
  }
  const [type = ''] = CONTENT_TYPE.exec(contentType) ?? [];
  return { kind: 'bytes', bytes: incoming.bytes(), contentType: type, length };
}

function badPath(): GatewayError {
  const message =
    `The path below /v1 must have at most ${MOST_STEPS} segments of letters, digits and . _ : @ + = , -, ` +
    'with single slashes between them and no percent signs.';
  return new GatewayError('invalid_request', message);
}
