import { GatewayError } from '#/errors/gateway-error.ts';
import { requestFault } from '#/pipeline/admit.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import type { CloudDialect } from '#/wire/request/cloud-dialect.ts';
import { readDocument, render, setMember, type WireDocument } from '#/wire/document/document.ts';
import type { Json } from '#/wire/document/json.ts';
import { isArray } from '#/wire/request/request-shape.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { hostedId } from '#/route/hosted-id.ts';
import type { AuthenticatedRequest } from '../endpoint/endpoint.ts';
import { areFlags, MOST_FLAGS } from '../messages/headers.ts';

/** What a cloud's address says of a request, in its own words. */
export interface Addressed {
  readonly cloud: CloudDialect;
  /** Model id as the address names it, decoded. */
  readonly model: string;
  /** Absent: the body says it. */
  readonly stream?: boolean;
}

/** A request as the messages family has it, and its headers. */
export interface Received {
  readonly text: string;
  readonly authenticated: AuthenticatedRequest;
}

/**
 * A request to a cloud's Claude with what its address says put into its body, as the messages family has it. Beta flags
 * of the body stand in the header too, for providers that take them there. Throws what a body is refused with.
 */
export async function asMessages(
  text: string,
  { cloud, model, stream }: Addressed,
  authenticated: AuthenticatedRequest,
  signal: AbortSignal,
): Promise<Received> {
  const document = await readBody(text, authenticated, signal);
  const { organization } = authenticated.key.workload;
  const edits = [setMember(document.root, 'model', JSON.stringify(hostedId(model, cloud, organization)))];
  if (stream !== undefined && document.body['stream'] !== stream) {
    edits.push(setMember(document.root, 'stream', String(stream)));
  }
  const betas = betasOf(document.body['anthropic_beta']);
  const { headers } = authenticated;
  const known = betas === undefined ? headers : { ...headers, 'anthropic-beta': betas };
  return { text: render(document.text, edits), authenticated: { ...authenticated, headers: known } };
}

/** A body, a large one in slices. Throws `invalid_request`. */
export async function readBody(
  text: string,
  { key }: Pick<AuthenticatedRequest, 'key'>,
  signal: AbortSignal,
): Promise<WireDocument> {
  const slices = slicesFor(text, { key, signal });
  try {
    return slices ? await slices.run(readLarge('messages', text)) : readDocument('messages', text);
  } catch (thrown) {
    throw requestFault(thrown);
  }
}

function betasOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (isArray(value) && value.every((flag) => typeof flag === 'string')) {
    const told = value.join(',');
    if (areFlags(told)) return told;
  }
  const message = `anthropic_beta must be a list of at most ${MOST_FLAGS} flags of lower-case letters, digits, dashes, dots and underscores.`;
  throw new GatewayError('invalid_request', message, { param: 'anthropic_beta' });
}
