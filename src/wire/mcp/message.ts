import type { WireDocument } from '../document/document.ts';
import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { member, type JsonNode } from '../document/scan.ts';

/** Error codes of JSON-RPC and of the protocol; `gateway`: of this gateway, in the range left to implementations. */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Of revisions up to 2025-11-25; later ones say `invalidParams`. */
  resourceNotFound: -32002,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
  gateway: -32010,
} as const;

/** A message that is refused as what it is. The text never quotes content. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly code: number;
  /** The status of the answer. */
  readonly status: number;
  readonly data: Json | undefined;

  constructor(code: number, status: number, message: string, data?: Json) {
    super(message);
    this.code = code;
    this.status = status;
    this.data = data;
  }
}

/** One message of a client or a server. `idSource`: its id as written, in JSON. */
export type RpcMessage =
  | {
      readonly kind: 'request';
      readonly idSource: string;
      readonly method: string;
      readonly params: JsonObject | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject | undefined }
  | { readonly kind: 'response'; readonly idSource: string | undefined };

/** Longest id that is repeated. */
const MOST_ID = 256;

/** Reads a message. Throws `RpcFault` for a document that is not a message. */
export function readMessage({ body, root, text }: WireDocument): RpcMessage {
  if (body['jsonrpc'] !== '2.0') throw invalid('jsonrpc must be "2.0".');
  const idSource = idIn(member(root, 'id'), text);
  const { method, params } = body;
  if (method === undefined) {
    if (body['result'] === undefined && body['error'] === undefined) throw invalid('method is missing.');
    return { kind: 'response', idSource };
  }
  if (typeof method !== 'string' || method === '' || method.length > 128) throw invalid('method must be a name.');
  if (params !== undefined && !isObject(params)) throw invalid('params must be an object.');
  return idSource === undefined
    ? { kind: 'notification', method, params }
    : { kind: 'request', idSource, method, params };
}

/** The id of a message whatever else is wrong with it; undefined where it has no id that can be repeated. */
export function idSourceOf({ root, text }: Pick<WireDocument, 'root' | 'text'>): string | undefined {
  try {
    return idIn(member(root, 'id'), text);
  } catch {
    return undefined;
  }
}

function idIn(node: JsonNode | undefined, text: string): string | undefined {
  if (node === undefined) return undefined;
  const source = text.slice(node.start, node.end);
  if ((node.kind === 'string' || node.kind === 'number') && source.length <= MOST_ID) return source;
  throw invalid(`id must be a string or a number of at most ${MOST_ID} characters.`);
}

function invalid(message: string): RpcFault {
  return new RpcFault(RPC.invalidRequest, 400, message);
}

/** The text of a response. `result`: JSON source. */
export function resultMessage(idSource: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${idSource},"result":${result}}`;
}

/** The text of an error; `idSource` absent: no message can be named. `error`: JSON source. */
export function errorMessage(idSource: string | undefined, error: string): string {
  return idSource === undefined
    ? `{"jsonrpc":"2.0","error":${error}}`
    : `{"jsonrpc":"2.0","id":${idSource},"error":${error}}`;
}

/** The source of an error object. */
export function errorSource({ code, message, data }: Pick<RpcFault, 'code' | 'message' | 'data'>): string {
  return JSON.stringify({ code, message, ...(data !== undefined && { data }) });
}
