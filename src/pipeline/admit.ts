import { LOCAL_PREFIX, staysHere } from '#/config/local-provider.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { shapeError } from '#/errors/shape-error.ts';
import { readExtension } from '#/inspect/extension.ts';
import { billingPlanRefusal } from '#/meter/limits/turn-away.ts';
import { BadRequestShape, KeptThread } from '#/wire/hub/codec.ts';
import { NotAJsonObject, readDocument, type WireDocument } from '#/wire/document/document.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { toolServersIn, type ToolServers } from '#/wire/request/tool-servers.ts';
import type { Call, CallRequest, CallContext } from '#/call/call.ts';
import type { LargeWork } from '#/runtime/large-work.ts';
import type { Slices } from '#/runtime/loop-slices.ts';
import { permitted, permittedToolServerSteps, withoutToolServerFlags } from '#/route/provider-side-tools.ts';

/** Reads a request that was not turned away. Throws `invalid_request`, `request_too_large` or `header_removed`. */
export function admit(request: CallRequest, text: string): Call {
  if (request.headers[REMOVED_HEADER] !== undefined) throw headerRemoved();
  const timeoutMs = answerTimeout(request);
  try {
    const document = readDocument(request.codec.family, text);
    return read(request, timeoutMs, document, toolServersIn(document));
  } catch (thrown) {
    throw requestFault(thrown);
  }
}

/** The same of a large one, in slices, once it has its place among those in work. `known`: the rest of the work on it. */
export async function admitLarge(
  request: CallRequest,
  text: string,
  slices: Slices,
  work: LargeWork,
  known: (call: Call) => Call,
): Promise<Call> {
  const { codec, key, signal } = request;
  refuseRemovedHeader(request.headers);
  const timeoutMs = answerTimeout(request);
  const { id, organization } = key.workload;
  const place = await work.enter({ organization: organization.id, workload: id }, text, signal);
  try {
    const document = await slices.run(readLarge(codec.family, text));
    const toolServers = await slices.run(permittedToolServerSteps(document, key));
    return known({ ...read(request, timeoutMs, document, toolServers), slices, place });
  } catch (thrown) {
    place[Symbol.dispose]();
    throw requestFault(thrown);
  }
}

function read(request: CallRequest, timeoutMs: number, document: WireDocument, named: ToolServers | undefined): Call {
  const { codec, key } = request;
  const ask = codec.ask(document);
  // What a local model cannot be asked is refused before anything is done for it. // spec 4.4.5
  const isLocal = ask.model.startsWith(LOCAL_PREFIX) && staysHere(ask.model, key.workload.organization);
  if (isLocal) codec.checkLocal?.(document, ask.model);
  const toolServers = named && permitted(named, document, key);
  const hasFlags = request.headers['anthropic-beta'] !== undefined;
  const headers = hasFlags && !toolServers ? withoutToolServerFlags(request.headers) : request.headers;
  const { remove, edits } = readExtension(document);
  return { ...request, headers, document, ask, isLocal, toolServers, remove, edits, timeoutMs };
}

/** Refuses calls that no body can save. Throws `header_removed` or `insufficient_quota` (no active plan). */
export function refuseBeforeReading({ headers, key, startedAt }: CallContext): void {
  refuseRemovedHeader(headers);
  const refusal = billingPlanRefusal(key.workload.organization, startedAt);
  if (refusal) throw refusal;
}

/** Throws `header_removed`, whatever is asked for. // spec 5.8 */
export function refuseRemovedHeader(headers: CallContext['headers']): void {
  if (headers[REMOVED_HEADER] !== undefined) throw headerRemoved();
}

const REMOVED_HEADER = 'x-gw-dlp';

function headerRemoved(): GatewayError {
  const message = `The header ${REMOVED_HEADER} is no longer supported: the policy of the workload sets data protection.`;
  return new GatewayError('header_removed', message, { param: REMOVED_HEADER });
}

/** A fault that the wire found in a request, as the client's error; all other errors stay unchanged. */
export function requestFault(thrown: unknown): unknown {
  if (thrown instanceof KeptThread)
    return new GatewayError('thread_unsupported_request', thrown.message, { param: thrown.param });
  if (thrown instanceof BadRequestShape) return shapeError(thrown);
  if (thrown instanceof TooManyValues)
    return new GatewayError('request_too_large', `The request is too large: ${thrown.message}.`);
  if (thrown instanceof NotAJsonObject || thrown instanceof AmbiguousJson)
    return new GatewayError('invalid_request', `Malformed request: ${thrown.message}.`);
  return thrown;
}

/** The workload's answer timeout, or the shorter one that the client asks for in whole seconds. // spec 7.1, 8 */
export function answerTimeout({ headers, key }: CallContext): number {
  const asked = headers[TIMEOUT_HEADER];
  const workloadSeconds = key.workload.policy.answerTimeoutSeconds;
  if (asked === undefined) return workloadSeconds * 1000;
  const seconds = askedSeconds(asked) ?? 0;
  if (seconds >= 1) return Math.min(seconds, workloadSeconds) * 1000;
  const message = `${TIMEOUT_HEADER} must be a whole number of seconds from 1. At most ${workloadSeconds} apply.`;
  throw new GatewayError('invalid_request', message, { param: TIMEOUT_HEADER });
}

/** How long the client lets the provider take. */
export const TIMEOUT_HEADER = 'x-gw-upstream-timeout';

/** Seconds that a client asks for; undefined where it gives no whole number. */
function askedSeconds(header: CallContext['headers'][string]): number | undefined {
  return typeof header === 'string' && /^[0-9]{1,9}$/.test(header) ? Number(header) : undefined;
}

/** The response header that says how long is waited, where the client asks for longer than its workload allows. */
export function timeoutHeader({
  headers,
  key,
}: Pick<CallContext, 'headers' | 'key'>): Readonly<Record<string, string>> {
  const { answerTimeoutSeconds } = key.workload.policy;
  const asked = askedSeconds(headers[TIMEOUT_HEADER]) ?? 0;
  return asked > answerTimeoutSeconds ? { [TIMEOUT_HEADER]: String(answerTimeoutSeconds) } : {};
}
