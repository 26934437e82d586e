import type { ReadMethod, ReadOf, ServerReadRequest } from '#/call/server-read.ts';
import type { ToolArguments } from '#/call/tool-call.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { RPC, RpcFault } from '#/wire/mcp/message.ts';
import { MOST_URI } from '#/wire/mcp/resource-uris.ts';
import { argumentsOf, type ClientMessage } from './read-request.ts';

/** What a request to read says. */
export type ReadParams = Pick<ServerReadRequest, 'of' | 'completes' | 'arguments'>;

const MOST_NAME = 256;
/** Longest address: one of a server, with its prefix. */
const MOST_ADDRESS = MOST_URI + 32;

const METHODS: Readonly<Record<ReadMethod, (params: JsonObject, read: ClientMessage) => ReadParams>> = {
  'resources/read': ({ uri }) => ({
    of: { kind: 'resources', uri: addressIn(uri, 'params.uri') },
    arguments: undefined,
  }),
  'prompts/get': ({ name, arguments: args }, read) => {
    const of = { kind: 'prompts', name: nameIn(name, 'params.name') } as const;
    requireTexts(args, 'params.arguments');
    return { of, arguments: argumentsOf(read) };
  },
  'completion/complete': ({ ref, argument, context }) => {
    if (!isObject(argument)) throw bad('params.argument must be an object with name and value.');
    const { name, value } = argument;
    if (typeof value !== 'string') throw bad('params.argument.value must be a text.');
    const before = isObject(context) ? context['arguments'] : undefined;
    requireTexts(before, 'params.context.arguments');
    return {
      of: refIn(ref),
      completes: nameIn(name, 'params.argument.name'),
      arguments: given({ value, ...(isObject(before) && { arguments: before }) }),
    };
  },
};

/** Whether a method reads of a server, and nothing else. */
export function isReadMethod(method: string): method is ReadMethod {
  return Object.hasOwn(METHODS, method);
}

/** Reads the params of such a method. Throws `RpcFault`. */
export function readReadParams(method: ReadMethod, read: ClientMessage): ReadParams {
  const params = (read.message.kind === 'request' && read.message.params) || {};
  return METHODS[method](params, read);
}

function refIn(ref: Json | undefined): ReadOf {
  const { type, name, uri } = isObject(ref) ? ref : {};
  if (type === 'ref/prompt') return { kind: 'prompts', name: nameIn(name, 'params.ref.name') };
  if (type === 'ref/resource') return { kind: 'resources', uri: addressIn(uri, 'params.ref.uri') };
  throw bad('params.ref.type must be ref/prompt or ref/resource.');
}

function nameIn(name: Json | undefined, place: string): string {
  if (typeof name === 'string' && name !== '' && name.length <= MOST_NAME) return name;
  throw bad(`${place} must be a name of at most ${MOST_NAME} characters.`);
}

function addressIn(uri: Json | undefined, place: string): string {
  if (typeof uri === 'string' && uri !== '' && uri.length <= MOST_ADDRESS) return uri;
  throw bad(`${place} must be a URI of at most ${MOST_ADDRESS} characters.`);
}

/** Arguments of prompts are texts. */
function requireTexts(args: Json | undefined, place: string): void {
  if (args === undefined || args === null) return;
  if (isObject(args) && Object.values(args).every((value) => typeof value === 'string')) return;
  throw bad(`${place} must be an object whose values are texts.`);
}

function given(value: JsonObject): ToolArguments {
  return { source: JSON.stringify(value), value };
}

function bad(message: string): RpcFault {
  return new RpcFault(RPC.invalidParams, 200, message);
}
