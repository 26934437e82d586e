import type { CallRequest } from '#/call/call.ts';
import { Stopped } from '#/call/facts.ts';
import type { ToolCallRequest, ToolReply } from '#/call/tool-call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { routeBuiltIn } from '#/route/tools/built-in.ts';
import { refuseRemovedHeader } from './admit.ts';
import { ANONYMIZATION, type AnonymizeRequest } from './anonymize.ts';
import { MODEL_CALL, type ModelCallStart } from './model-call.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { runCall, type CallStart, type Stated } from './run-call.ts';
import {
  NO_ARGUMENTS,
  type BuiltInResult,
  type BuiltInTool,
  type DocumentTool,
  type ModelTool,
} from './tools/built-in/tool.ts';

interface BuiltInStart<Tool extends BuiltInTool> extends CallStart<ToolCallRequest> {
  readonly tool: Tool;
}

interface ModelToolStart extends BuiltInStart<ModelTool>, Pick<ModelCallStart, 'emit'> {}

/** The way of a call that asks a model of the gateway's own: that of its endpoint, once policy lets the tool be called. */
const MODEL_TOOL = MODEL_CALL.behind('admit', readBody).behind('route', allowTool<ModelToolStart>);

/** The way of a call that anonymizes: that of its endpoint, likewise. */
const DOCUMENT_TOOL = ANONYMIZATION.behind('admit', readUpload).behind('route', allowTool<BuiltInStart<DocumentTool>>);

/** Whether policy lets the workload call the tool. */
function allowTool<Start extends BuiltInStart<BuiltInTool>>(start: Start, { providers }: PipelineParts): Stated<Start> {
  const { request, tool } = start;
  const facts = { asked: { model: tool.model, stream: false } };
  try {
    return { ...start, facts: { ...facts, ...routeBuiltIn(tool, request.key.workload, providers) } };
  } catch (thrown) {
    throw thrown instanceof Stopped ? new Stopped(thrown.cause, { ...facts, ...thrown.facts }) : thrown;
  }
}

/** Writes the arguments as the body of a request to the endpoint. */
function readBody({ request, tool, emit }: ModelToolStart): Stated<ModelCallStart> {
  refuseRemovedHeader(request.headers);
  const text = tool.bodyOf(request.arguments ?? NO_ARGUMENTS);
  const asked: CallRequest = { ...request, codec: tool.codec };
  return { request: asked, text, emit };
}

/** Makes an upload of the arguments; they are read where the endpoint reads its form. */
function readUpload({ request, tool }: BuiltInStart<DocumentTool>): Stated<CallStart<AnonymizeRequest>> {
  const upload: AnonymizeRequest['upload'] = async () => tool.uploadOf(request.arguments ?? NO_ARGUMENTS);
  return { request: { ...request, upload } };
}

/** What a feature answers, and with it what its endpoint says in headers. */
interface Answered extends Pick<ToolReply, 'limits' | 'unscanned'> {
  readonly result: BuiltInResult;
}

/** Calls a tool of the gateway's own, and gives what its client is sent. */
export async function callBuiltIn(
  tool: BuiltInTool,
  request: ToolCallRequest,
  parts: PipelineParts,
): Promise<ToolReply> {
  const answering = tool.kind === 'model' ? askModel(tool, request, parts) : anonymize(tool, request, parts);
  const { result, limits, unscanned } = await answering;
  return { kind: 'result', status: 200, text: textOf(result, request), limits, unscanned };
}

async function askModel(tool: ModelTool, request: ToolCallRequest, parts: PipelineParts): Promise<Answered> {
  let body = '';
  let limits: Limits = {};
  let unscanned: readonly string[] = [];
  const emit: ModelCallStart['emit'] = (answer) => {
    if (answer.kind === 'body') body += answer.text;
    if (answer.kind !== 'accepted') return true;
    limits = answer.limits;
    unscanned = answer.headers['x-gw-unscanned']?.split(', ') ?? [];
    return true;
  };
  await runCall(MODEL_TOOL, 'mcp', { request, tool, emit }, parts);
  return { result: tool.resultOf(body), limits, unscanned };
}

async function anonymize(tool: DocumentTool, request: ToolCallRequest, parts: PipelineParts): Promise<Answered> {
  const { anonymized } = await runCall(DOCUMENT_TOOL, 'mcp', { request, tool }, parts);
  const { limits, unscanned } = anonymized;
  return { result: tool.resultOf(anonymized, unscanned), limits, unscanned };
}

/** JSON source of the result: modern ones say what kind they are. */
function textOf({ content, structured }: BuiltInResult, { era }: ToolCallRequest): string {
  const kind = era.era === 'modern' ? '"resultType":"complete",' : '';
  return `{${kind}"content":[${content.join(',')}],"structuredContent":${structured}}`;
}
