import type { FastifyRequest } from 'fastify';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { ToolArguments, ToolInput } from '#/call/tool-call.ts';
import type { VirtualKeyConfig } from '#/config/snapshot.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { NotAJsonObject, readDocument, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { AmbiguousJson, member, TooManyValues, type JsonNode } from '#/wire/document/scan.ts';
import { META_CAPABILITIES, META_LOG_LEVEL, readEra, type ClientEra } from '#/wire/mcp/eras.ts';
import { idSourceOf, readMessage, RPC, RpcFault, type RpcMessage } from '#/wire/mcp/message.ts';
import type { IncomingBody } from '../body/incoming-body.ts';

/** Largest message of a client. */
const MOST_BYTES = 4 * 1024 * 1024;

/** A message of a client. */
export interface ClientMessage {
  readonly document: WireDocument;
  readonly message: RpcMessage;
  readonly era: ClientEra;
}

/** A message that is refused as what it is, with its id where it has one. */
export class RefusedMessage extends Error {
  override readonly name = 'RefusedMessage';
  readonly fault: RpcFault;
  readonly idSource: string | undefined;

  constructor(fault: RpcFault, idSource?: string) {
    super(fault.message, { cause: fault });
    this.fault = fault;
    this.idSource = idSource;
  }
}

/** Reads one message. Throws `RefusedMessage`, or `GatewayError` where the body cannot be taken. */
export async function readClientMessage(
  request: FastifyRequest,
  body: IncomingBody,
  by: { readonly key: VirtualKeyConfig; readonly signal: AbortSignal },
): Promise<ClientMessage> {
  requireAccept(request.headers.accept);
  if (body.length !== undefined && body.length > MOST_BYTES) throw tooLarge();
  const text = await body.json();
  if (text.length > MOST_BYTES || Buffer.byteLength(text) > MOST_BYTES) throw tooLarge();
  const document = await readJson(text, by);
  try {
    const message = readMessage(document);
    return { document, message, era: readEra(message, repeatedIn(request)) };
  } catch (thrown) {
    throw thrown instanceof RpcFault ? new RefusedMessage(thrown, idSourceOf(document)) : thrown;
  }
}

function tooLarge(): GatewayError {
  return new GatewayError('request_too_large', `A message may have at most ${MOST_BYTES / 1024} KiB.`);
}

async function readJson(
  text: string,
  by: { readonly key: VirtualKeyConfig; readonly signal: AbortSignal },
): Promise<WireDocument> {
  const slices = slicesFor(text, by);
  try {
    return slices ? await slices.run(readLarge('mcp', text)) : readDocument('mcp', text);
  } catch (thrown) {
    if (thrown instanceof NotAJsonObject) throw new RefusedMessage(noObject(text));
    if (thrown instanceof AmbiguousJson || thrown instanceof TooManyValues)
      throw new RefusedMessage(new RpcFault(RPC.invalidRequest, 400, `The message cannot be read: ${thrown.message}.`));
    throw thrown;
  }
}

function noObject(text: string): RpcFault {
  try {
    const isBatch = Array.isArray(JSON.parse(text));
    const message = isBatch ? 'Batches are not supported: send one message.' : 'The message must be a JSON object.';
    return new RpcFault(RPC.invalidRequest, 400, message);
  } catch {
    return new RpcFault(RPC.parse, 400, 'The message is not valid JSON.');
  }
}

/** Answers are JSON or a stream of events. */
function requireAccept(accept: string | undefined): void {
  if (accept === undefined || accept.trim() === '' || takes(accept, 'application/json') || takesEvents(accept)) return;
  const message = 'Accept must take application/json or text/event-stream.';
  throw new RefusedMessage(new RpcFault(RPC.invalidRequest, 406, message));
}

/** Whether a client takes a stream of events. */
export function takesEvents(accept: string | undefined): boolean {
  return accept !== undefined && takes(accept, 'text/event-stream');
}

function takes(accept: string, type: string): boolean {
  const [family] = type.split('/');
  return accept.split(',').some((one) => {
    const [range = ''] = one.split(';', 1);
    return ['*/*', `${family}/*`, type].includes(range.trim().toLowerCase());
  });
}

function repeatedIn({ headers }: FastifyRequest) {
  const once = (name: string): string | undefined => {
    const value = headers[name];
    if (value === undefined || typeof value === 'string') return value;
    throw new RpcFault(RPC.headerMismatch, 400, `The header ${name} must be sent only once.`);
  };
  return { version: once('mcp-protocol-version'), method: once('mcp-method'), name: once('mcp-name') };
}

/** What a call of a tool says. */
export interface ToolParams {
  readonly name: string;
  readonly arguments: ToolArguments | undefined;
  /** JSON source of the token for notices of progress. */
  readonly progressToken: string | undefined;
  /** Members of `_meta` that go on. */
  readonly meta: JsonObject;
  /** What a modern client can do. */
  readonly capabilities: JsonObject | undefined;
  /** Another round of a call, of a modern client. */
  readonly input: ToolInput | undefined;
}

/** Longest name of a tool that is looked for. */
const MOST_NAME = 256;
const TRACE = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const LEVELS: ReadonlySet<Json | undefined> = new Set([
  ...['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'],
]);

/** Reads the params of `tools/call`. Throws `RpcFault`. */
export function readToolParams(read: ClientMessage): ToolParams {
  const { document, message, era } = read;
  const params = message.kind === 'request' ? (message.params ?? {}) : {};
  const { name, arguments: args, _meta: meta } = params;
  if (typeof name !== 'string' || name === '' || name.length > MOST_NAME)
    throw new RpcFault(RPC.invalidParams, 200, 'params.name must be the name of a tool.');
  if (args !== undefined && args !== null && !isObject(args))
    throw new RpcFault(RPC.invalidParams, 200, 'params.arguments must be an object.');
  const nodes = member(document.root, 'params');
  const capabilities = isObject(meta) ? meta[META_CAPABILITIES] : undefined;
  return {
    name,
    arguments: argumentsOf(read),
    capabilities: era.era === 'modern' && isObject(capabilities) ? capabilities : undefined,
    input: era.era === 'modern' ? readInput(params, nodes, document.text) : undefined,
    ...readCallMeta(read),
  };
}

/** `params.arguments` as written, where it is an object. */
export function argumentsOf({ document: { root, text }, message }: ClientMessage): ToolArguments | undefined {
  const args = message.kind === 'request' ? message.params?.['arguments'] : undefined;
  return objectAt(member(root, 'params'), 'arguments', args, text);
}

/** The parts of the `_meta` of a call that go on. */
export function readCallMeta({
  document: { root, text },
  message,
  era,
}: ClientMessage): Pick<ToolParams, 'progressToken' | 'meta'> {
  const meta = message.kind === 'request' ? message.params?.['_meta'] : undefined;
  const told = isObject(meta) ? meta : {};
  const token = member(member(member(root, 'params'), '_meta'), 'progressToken');
  return {
    progressToken:
      token && (token.kind === 'string' || token.kind === 'number') && token.end - token.start <= MOST_NAME
        ? text.slice(token.start, token.end)
        : undefined,
    meta: {
      ...(era.era === 'modern' && LEVELS.has(told[META_LOG_LEVEL]) && { [META_LOG_LEVEL]: told[META_LOG_LEVEL] }),
      ...(typeof told['traceparent'] === 'string' &&
        TRACE.test(told['traceparent']) && { traceparent: told['traceparent'] }),
    },
  };
}

function objectAt(
  nodes: JsonNode | undefined,
  name: string,
  value: Json | undefined,
  text: string,
): ToolArguments | undefined {
  const node = member(nodes, name);
  return isObject(value) && node ? { source: text.slice(node.start, node.end), value } : undefined;
}

/** What answers the questions of the round before. Throws `RpcFault`. */
function readInput(
  { inputResponses: responses, requestState: state }: JsonObject,
  nodes: JsonNode | undefined,
  text: string,
): ToolInput | undefined {
  if (responses === undefined && state === undefined) return undefined;
  if (responses !== undefined && !isObject(responses))
    throw new RpcFault(RPC.invalidParams, 200, 'params.inputResponses must be an object.');
  if (state !== undefined && typeof state !== 'string')
    throw new RpcFault(RPC.invalidParams, 200, 'params.requestState must be a text.');
  return { responses: objectAt(nodes, 'inputResponses', responses, text), state };
}
