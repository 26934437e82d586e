import type { FastifyReply } from 'fastify';
import { ClientCancelled, ClientHungUp } from '#/call/call.ts';
import type { ClientSession } from '#/call/client-session.ts';
import type { ReadMethod } from '#/call/server-read.ts';
import type { ToolCallRequest, ToolReply } from '#/call/tool-call.ts';
import type { McpFeature } from '#/config/snapshot.ts';
import { asGatewayError, type GatewayError } from '#/errors/gateway-error.ts';
import type { Pipeline } from '#/pipeline/pipeline.ts';
import { builtInNamed } from '#/pipeline/tools/built-in/list.ts';
import { META_LOG_LEVEL } from '#/wire/mcp/eras.ts';
import { errorMessage, resultMessage } from '#/wire/mcp/message.ts';
import { authenticatedOf } from '../endpoint/authenticated-request.ts';
import type { OpenCalls } from '../endpoint/open-calls.ts';
import { sessionOf, type SessionRequest } from './client-sessions.ts';
import { headersFor, mcpProtocol, toolFailureOf, type ToldFailure } from './protocol.ts';
import { readFailureOf } from './read-failure.ts';
import { readReadParams } from './read-params.ts';
import { readCallMeta, readToolParams, takesEvents, type ClientMessage, type ToolParams } from './read-request.ts';
import { ToolStream } from './tool-stream.ts';

/** What a call is served with. */
export interface CallServing extends SessionRequest {
  readonly reply: FastifyReply;
  readonly hangUp: AbortController;
  readonly deps: {
    readonly calls: OpenCalls;
    readonly pipeline: Pick<Pipeline, 'turnAway' | 'leave' | 'refuse' | 'callTool' | 'read' | 'clients'>;
    readonly onError: (error: GatewayError, callId: string) => void;
  };
}

/** What a server must offer for a method. */
export const FEATURES: Readonly<Record<ReadMethod, McpFeature>> = {
  'resources/read': 'resources',
  'prompts/get': 'prompts',
  'completion/complete': 'completions',
};

/** Calls a tool. */
export async function callTool(read: ClientMessage, idSource: string, serving: CallServing): Promise<void> {
  const { context, server, deps } = serving;
  const { name: tool, arguments: args, capabilities, input, ...told } = readToolParams(read);
  await takeThrough(
    { read, idSource, ...told },
    serving,
    (asked, stream) =>
      deps.pipeline.callTool({
        ...context,
        ...{ server, tool, arguments: args, capabilities, input, ...asked },
        ...(stream && asked.session && { onAsk: (ask) => stream.ask(ask) }),
      }),
    (error) => {
      const isOwn = builtInNamed({ server, tool }) !== undefined;
      return toolFailureOf(error, context.id, idSource, { era: read.era.era, isOwn });
    },
  );
}

/** Reads a resource, a prompt or completions. */
export async function readOfServer(
  method: ReadMethod,
  read: ClientMessage,
  idSource: string,
  serving: CallServing,
): Promise<void> {
  const { context, server, deps } = serving;
  const params = readReadParams(method, read);
  await takeThrough(
    { read, idSource, ...readCallMeta(read) },
    serving,
    (asked) => deps.pipeline.read({ ...context, server, method, ...params, ...asked }),
    (error) => readFailureOf(error, context.id, idSource, { era: read.era.era, of: params.of }),
  );
}

/** A message that is a call. */
interface Calling extends Pick<ToolParams, 'progressToken' | 'meta'> {
  readonly read: ClientMessage;
  readonly idSource: string;
}

/** What every call is asked with. */
interface Asked extends Pick<ToolCallRequest, 'subject' | 'era' | 'meta' | 'onNotice'> {
  readonly session: ClientSession | undefined;
}

/** Takes a call through the pipeline, and its result out. */
async function takeThrough(
  { read, idSource, progressToken, meta }: Calling,
  serving: CallServing,
  call: (asked: Asked, stream: ToolStream | undefined) => Promise<ToolReply>,
  failed: (error: GatewayError) => ToldFailure,
): Promise<void> {
  const { request, reply, context, deps } = serving;
  const authenticated = authenticatedOf(request);
  const session = read.era.era === 'legacy' ? sessionOf(serving) : undefined;
  using _running = session && deps.pipeline.clients.running.add(session, read.document.body['id'], serving.hangUp);
  const refusal = deps.pipeline.turnAway(authenticated);
  const streams = takesEvents(request.headers.accept);
  const stream = new ToolStream(reply, streams, deps.calls);
  try {
    if (refusal) {
      deps.pipeline.refuse(context, 'mcp', refusal);
      throw refusal;
    }
    const wantsNotices = streams && (session !== undefined || progressToken !== undefined || META_LOG_LEVEL in meta);
    const asked: Asked = {
      ...{ subject: authenticated.subject, era: read.era, meta, session },
      ...(wantsNotices && { onNotice: (notice) => stream.notice(notice, progressToken) }),
    };
    const answered = await call(asked, streams ? stream : undefined);
    const write = answered.kind === 'result' ? resultMessage : errorMessage;
    const { text, status, limits, unscanned } = answered;
    stream.end(write(idSource, text), status, {
      ...mcpProtocol.limitHeaders(limits, Date.now()),
      ...(unscanned.length > 0 && { 'x-gw-unscanned': unscanned.join(', ') }),
    });
  } catch (thrown) {
    if (context.signal.reason instanceof ClientCancelled) return stream.cancelled(idSource);
    if (context.signal.reason instanceof ClientHungUp) return stream.abandon();
    const error = asGatewayError(thrown);
    deps.onError(error, context.id);
    const { status, text } = failed(error);
    stream.end(text, status, headersFor(error));
  } finally {
    deps.pipeline.leave(authenticated);
  }
}
