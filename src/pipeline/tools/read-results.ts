import type { ReadMethod, ServerReadRequest } from '#/call/server-read.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Detection } from '#/inspect/detection.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import type { ToolAnswer } from '#/ports/mcp-servers.ts';
import { render, setMember, type Edit, type WireDocument } from '#/wire/document/document.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { RPC } from '#/wire/mcp/message.ts';
import { edited, linkedText, links, mayLink, type Told } from './linked-text.ts';
import { eraEdits, lookAt, restoredInTurns, type LookedThrough } from './results.ts';

/** Values of one argument that a server may suggest. */
const MOST_VALUES = 100;

/** The failure of an answer without the form that the method asks for; undefined: it has the form, or is an error. */
export function misshapen(method: ReadMethod, { kind, document }: ToolAnswer): GatewayError | undefined {
  const { body } = document;
  if (kind === 'error') return undefined;
  if (body['resultType'] === 'input_required')
    return failure('The MCP server needs input from its user, which the gateway does not pass on.');
  if (SHAPES[method](body)) return undefined;
  return failure('The MCP server answered with something else than it was asked for.');
}

function failure(message: string): GatewayError {
  return new GatewayError('upstream_error', message, { report: { cause: 'protocol', attempts: [] } });
}

const SHAPES: Readonly<Record<ReadMethod, (body: JsonObject) => boolean>> = {
  'resources/read': ({ contents }) => isList(contents, isContents),
  'prompts/get': ({ messages }) => isList(messages, isMessage),
  'completion/complete': ({ completion }) => isObject(completion) && isValues(completion['values']),
};

function isList(value: Json | undefined, isItem: (item: Json) => boolean): boolean {
  return Array.isArray(value) && (value as readonly Json[]).every(isItem);
}

function isContents(item: Json): boolean {
  if (!isObject(item) || typeof item['uri'] !== 'string') return false;
  const { text, blob } = item;
  return text === undefined ? typeof blob === 'string' : typeof text === 'string' && blob === undefined;
}

function isMessage(item: Json): boolean {
  if (!isObject(item) || (item['role'] !== 'user' && item['role'] !== 'assistant')) return false;
  return isObject(item['content']) && typeof item['content']['type'] === 'string';
}

function isValues(values: Json | undefined): boolean {
  return isList(values, (value) => typeof value === 'string') && (values as readonly Json[]).length <= MOST_VALUES;
}

/** Looks through an answer like the result of a tool. */
export async function lookThroughRead(
  { request, answer: { document, kind }, inspection }: Came,
  parts: { readonly detection: Detection },
): Promise<LookedThrough> {
  const { findings, unscanned, refusal, edits: found } = await lookAt(document, request, parts);
  const none = { text: '', unrestored: '', isError: true, findings, unscanned };
  if (refusal) return { ...none, refusal: refusedRead(refusal, findings) };
  const unrestored = render(document.text, [...found, ...(kind === 'result' ? eraEdits(document, request) : [])]);
  const said = { arguments: request.arguments?.source, answers: [] };
  const restored = await restoredInTurns(unrestored, { request, inspection, said });
  if (restored instanceof GatewayError) return { ...none, refusal: restored };
  return { text: restored, unrestored, isError: kind === 'error', findings, unscanned };
}

interface Came {
  readonly request: ServerReadRequest;
  readonly answer: ToolAnswer;
  readonly inspection: Inspection | undefined;
}

/** A refusal of an answer in words that fit: the request called no tool. */
function refusedRead(refusal: GatewayError, findings: Readonly<Record<string, number>>): GatewayError {
  if (refusal.code !== 'data_protection') return refusal;
  const kinds = Object.keys(findings).sort();
  const what =
    kinds.length > 0 ? `the answer contains ${kinds.join(', ')}` : 'the answer has content that cannot be inspected';
  return new GatewayError(
    'data_protection',
    `Refused by data protection: ${what}. The server has carried out the request.`,
  );
}

/** The text in the form that the client's era has, with addresses that it can read. An error where it cannot be read. */
export async function clientText(
  told: Told & { readonly request: ServerReadRequest },
  kind: ToolAnswer['kind'],
  server: McpServerConfig,
): Promise<string | GatewayError> {
  const { text, request } = told;
  const isFederated = request.server === undefined;
  if (request.method !== 'resources/read') return isFederated ? linkedText(told, server) : text;
  return edited(told, function* (document) {
    const own = kind === 'error' ? codeEdits(document, request) : cacheEdits(document, request);
    return isFederated && mayLink(text) ? [...own, ...(yield* links(document, server))] : own;
  });
}

/** Legacy revisions have a code of their own for a resource that is not there; modern ones name its address. */
function codeEdits({ root, body }: WireDocument, { era }: Pick<ServerReadRequest, 'era'>): readonly Edit[] {
  const { code, data } = body;
  const isMissing =
    code === RPC.resourceNotFound || (code === RPC.invalidParams && isObject(data) && typeof data['uri'] === 'string');
  const told = era.era === 'modern' ? RPC.invalidParams : RPC.resourceNotFound;
  return isMissing && code !== told ? [setMember(root, 'code', String(told))] : [];
}

/** A modern resource says how long it may be kept: never for others than who read it. */
function cacheEdits({ root, body }: WireDocument, { era }: Pick<ServerReadRequest, 'era'>): readonly Edit[] {
  if (era.era === 'legacy') return [];
  const { ttlMs } = body;
  const edits = [setMember(root, 'cacheScope', '"private"')];
  // At one place only one edit can add a member: both are written in one.
  if (typeof ttlMs === 'number' && ttlMs >= 0) return edits;
  if (ttlMs !== undefined) return [...edits, setMember(root, 'ttlMs', '0')];
  const [scope] = edits;
  return body['cacheScope'] === undefined
    ? [{ ...scope!, text: `${scope!.text},"ttlMs":0` }]
    : [...edits, setMember(root, 'ttlMs', '0')];
}
