import { isObject, type Json, type JsonObject } from '../document/json.ts';
import { decodeHeader } from './headers.ts';
import { RPC, RpcFault, type RpcMessage } from './message.ts';

/** Legacy: a handshake opens a session. Modern: every request says all that it needs. */
export type Era = 'legacy' | 'modern';

/** The modern revision of the protocol. */
export const MODERN = '2026-07-28';
/** Revisions with a handshake, the newest first. */
export const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
/** Revisions that the gateway speaks with clients and servers. */
export const SUPPORTED: readonly string[] = [MODERN, ...LEGACY];
/** What a legacy client that names no revision speaks. */
const UNNAMED = '2025-03-26';

const META = 'io.modelcontextprotocol/';
export const META_VERSION = `${META}protocolVersion`;
export const META_CAPABILITIES = `${META}clientCapabilities`;
export const META_CLIENT = `${META}clientInfo`;
export const META_SERVER = `${META}serverInfo`;
export const META_LOG_LEVEL = `${META}logLevel`;

/** How a client speaks. */
export interface ClientEra {
  readonly era: Era;
  /** The revision. */
  readonly version: string;
}

/** Headers that repeat what a modern message says. */
export interface RepeatedHeaders {
  readonly version: string | undefined;
  readonly method: string | undefined;
  readonly name: string | undefined;
}

/** Methods whose `Mcp-Name` header repeats a member of their params. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * The era of a client, by what its message says and its headers repeat. Throws `RpcFault`: headers that say otherwise than
 * the body, an unknown revision, a modern request without its `_meta`.
 */
export function readEra(message: RpcMessage, headers: RepeatedHeaders): ClientEra {
  const meta = metaOf(message);
  const claimed = meta?.[META_VERSION];
  if (claimed === undefined) return unclaimed(message, headers);
  if (typeof claimed !== 'string') throw badMeta(META_VERSION, 'must be a revision of the protocol');
  if (headers.version !== undefined && headers.version !== claimed) {
    throw mismatch('MCP-Protocol-Version', 'differs from the revision in params._meta');
  }
  if (claimed !== MODERN) return LEGACY.includes(claimed as never) ? legacy(claimed) : unsupported(claimed);
  if (message.kind !== 'request') return { era: 'modern', version: MODERN };
  if (headers.version === undefined) throw mismatch('MCP-Protocol-Version', 'is missing');
  checkRepeated(message, headers);
  if (!isObject(meta?.[META_CAPABILITIES])) throw badMeta(META_CAPABILITIES, 'must be an object');
  return { era: 'modern', version: MODERN };
}

/** The era of a message that names no revision itself. */
function unclaimed(message: RpcMessage, { version, method }: RepeatedHeaders): ClientEra {
  if (version === undefined) return legacy(UNNAMED);
  if (LEGACY.includes(version as never)) return legacy(version);
  if (version !== MODERN) return unsupported(version);
  if (message.kind === 'request') throw badMeta(META_VERSION, 'is missing');
  if (message.kind === 'notification' && method !== undefined && method !== message.method) {
    throw mismatch('Mcp-Method', 'differs from the method in the body');
  }
  return { era: 'modern', version: MODERN };
}

function legacy(version: string): ClientEra {
  return { era: 'legacy', version };
}

/** Proxies read headers: these must say the same as the body. */
function checkRepeated(
  { method, params }: Extract<RpcMessage, { kind: 'request' }>,
  { method: repeated, name }: RepeatedHeaders,
): void {
  if (repeated === undefined) throw mismatch('Mcp-Method', 'is missing');
  if (repeated !== method) throw mismatch('Mcp-Method', 'differs from the method in the body');
  const source = Object.hasOwn(NAMED, method) ? NAMED[method] : undefined;
  const said = source === undefined ? undefined : params?.[source];
  if (typeof said !== 'string') return;
  if (name === undefined) throw mismatch('Mcp-Name', 'is missing');
  const decoded = decodeHeader(name);
  if (decoded === undefined) throw mismatch('Mcp-Name', 'is not valid base64 of UTF-8');
  if (decoded !== said) throw mismatch('Mcp-Name', `differs from params.${source}`);
}

/** The `_meta` of a message's params. */
function metaOf(message: RpcMessage): JsonObject | undefined {
  if (message.kind === 'response') return undefined;
  const meta: Json | undefined = message.params?.['_meta'];
  return isObject(meta) ? meta : undefined;
}

/** A header that says otherwise than the body. `why`: the rest of the sentence. */
function mismatch(header: string, why: string): RpcFault {
  return new RpcFault(RPC.headerMismatch, 400, `The header ${header} ${why}.`);
}

function badMeta(name: string, why: string): RpcFault {
  return new RpcFault(RPC.invalidParams, 400, `params._meta["${name}"] ${why}.`);
}

function unsupported(requested: string): never {
  const message = `This revision of the protocol is not supported. Use one of ${SUPPORTED.join(', ')}.`;
  const data = { supported: SUPPORTED, ...(/^[\w.-]{1,32}$/.test(requested) && { requested }) };
  throw new RpcFault(RPC.unsupportedVersion, 400, message, data);
}

/** The revision that the gateway answers a legacy client's `initialize` with. */
export function negotiated(asked: Json | undefined): string {
  return typeof asked === 'string' && LEGACY.includes(asked as never) ? asked : LEGACY[0];
}

/** Whether a server's own list of revisions, or a refusal's, has the modern one. */
export function speaksModern(versions: Json | undefined): boolean {
  return Array.isArray(versions) && (versions as readonly Json[]).includes(MODERN);
}
