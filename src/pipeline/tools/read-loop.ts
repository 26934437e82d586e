import type { CallRequest } from '#/call/call.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { readExtension } from '#/inspect/extension.ts';
import type { LargeWork } from '#/runtime/large-work.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { chatLoop } from '#/wire/chat/tool-loop.ts';
import { NotAJsonObject, readDocument, type Family, type WireDocument } from '#/wire/document/document.ts';
import { readLarge } from '#/wire/document/large-json.ts';
import { AmbiguousJson, TooManyValues } from '#/wire/document/scan.ts';
import { finish } from '#/wire/document/steps.ts';
import { responsesLoop } from '#/wire/responses/tool-loop.ts';
import { optionalCount } from '#/wire/request/request-shape.ts';
import { namedServers } from '#/wire/hub/tool-loop/named-servers.ts';
import type { LoopCodec } from '#/wire/hub/tool-loop/loop-codec.ts';
import { offerTools, type Offering } from './loop-tools.ts';
import { LOOP_LIMITS, type LoopRequest } from './tool-loop.ts';

/** Families in which the gateway runs tools. */
const CODECS: Readonly<Partial<Record<Family, LoopCodec>>> = { chat: chatLoop, responses: responsesLoop };

/** Every request that has the gateway run tools has one of these in its text, or others refuse the request. */
export const NAMES_SERVERS = /"mcp(?:_call|_list_tools|_approval_request)?"/;

/** Whether the gateway runs tools in the family of a request. */
export function runsTools({ codec }: Pick<CallRequest, 'codec'>): boolean {
  return codec.family in CODECS;
}

/**
 * What a request has the gateway run; undefined where it names no server of the gateway's, or cannot be read: then it is
 * served, or refused, like any other. Throws `BadRequestShape` or `GatewayError` for tools that cannot be offered.
 */
export async function readLoop(
  request: CallRequest,
  text: string,
  parts: { readonly largeWork: LargeWork; readonly offering: Offering },
): Promise<LoopRequest | undefined> {
  const codec = CODECS[request.codec.family];
  const document = await readRequest(request, text, parts.largeWork);
  if (!codec || !document) return undefined;
  const named = namedServers(document, codec.asksClients) ?? (codec.tellsOfTools(document) ? [] : undefined);
  if (!named) return undefined;
  if (Buffer.byteLength(text) > LOOP_LIMITS.bytes) {
    const message = `A request with tools of MCP servers must have at most ${LOOP_LIMITS.bytes} bytes.`;
    throw new GatewayError('request_too_large', message);
  }
  // What no round could ask is refused before any server is.
  request.codec.ask(document);
  const { remove } = readExtension(document);
  const tools = await offerTools(named, request.key.workload, parts.offering);
  const beginning = codec.begin(document, tools, request.id);
  const slices = slicesFor(text, request);
  return {
    request,
    conversation: slices ? await slices.run(beginning) : finish(beginning),
    remove,
    stream: document.body['stream'] === true,
    maxCalls: optionalCount(document.body, 'max_tool_calls', MOST_CALLS) ?? MOST_CALLS,
  };
}

const MOST_CALLS = LOOP_LIMITS.rounds * LOOP_LIMITS.callsPerRound;

async function readRequest(request: CallRequest, text: string, work: LargeWork): Promise<WireDocument | undefined> {
  const { codec, key, signal } = request;
  const slices = slicesFor(text, request);
  try {
    if (!slices) return readDocument(codec.family, text);
    const { id, organization } = key.workload;
    using _place = await work.enter({ organization: organization.id, workload: id }, text, signal);
    return await slices.run(readLarge(codec.family, text));
  } catch (thrown) {
    if (thrown instanceof NotAJsonObject || thrown instanceof AmbiguousJson || thrown instanceof TooManyValues)
      return undefined;
    throw thrown;
  }
}
