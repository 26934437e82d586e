import type { McpServerConfig } from '#/config/snapshot.ts';
import { Stopped, type CallFacts, type StatedFacts, type ToolFacts } from '#/call/facts.ts';
import type { DebitedTarget } from '#/call/target.ts';
import type { ToolCallRequest, ToolReply } from '#/call/tool-call.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { protection } from '#/inspect/refusals.ts';
import { countServerCall } from '#/meter/server-calls.ts';
import type { ListedTool, ToolAnswer } from '#/ports/mcp-servers.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { routeTool, toolSlug } from '#/route/tools.ts';
import { isSendable } from '#/route/api-arguments.ts';
import { render, type WireDocument } from '#/wire/document/document.ts';
import type { JsonObject } from '#/wire/document/json.ts';
import { partsOfSaying, sayingDocument } from '#/wire/mcp/input.ts';
import { unlikeHeader } from '#/wire/mcp/headers.ts';
import { RPC } from '#/wire/mcp/message.ts';
import { argumentsDocument, argumentsIn } from '#/wire/mcp/leaves.ts';
import { answerTimeout, refuseBeforeReading } from './admit.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type CallStart, type Stated } from './run-call.ts';
import { askApproval, useApproval } from './tools/approval.ts';
import { askServer, enterServer, type EnteredServer } from './tools/ask-server.ts';
import { openState, type InputState } from './tools/clients/input-state.ts';
import { refuseOtherRounds, refuseUnfit } from './tools/clients/inspect-answers.ts';
import { unknownTool, type FoundTool } from './tools/find-tool.ts';
import { holdServerCall } from './tools/hold-server-call.ts';
import { inspectLeaving, keptFrom } from './tools/inspect-given.ts';
import { linkedText } from './tools/linked-text.ts';
import { lookThrough } from './tools/results.ts';
import { retainToolCall } from './tools/retained-tool-call.ts';
import { fitsNoLonger } from './tools/schema-fit.ts';
import { toolFacts } from './tools/tool-facts.ts';

export interface ToolCallStart extends CallStart<ToolCallRequest> {
  readonly found: FoundTool;
}

/** The way of a call of a tool, from its name to its result. */
export const TOOL_CALL = new Steps<PipelineParts, ToolCallStart>()
  .step('admit', admitRequest)
  .step('route', chooseTool)
  .step('inspect', inspectArguments)
  .step('meter', holdMoney)
  .step('route', askApproval)
  .step('dispatch', enterServer)
  .step('meter', countCall)
  .step('route', useApproval)
  .step('dispatch', callTool)
  .step('dispatch', passResult);

interface Admitted extends ToolCallStart {
  readonly server: McpServerConfig;
  readonly listed: ListedTool;
  readonly tool: ToolFacts;
  /** What earlier rounds of the call left; undefined: this is the first. */
  readonly state: InputState | undefined;
}

/** Refuses what no policy need be asked about. The row names a tool only where its server lists it. */
function admitRequest(
  start: ToolCallStart,
  parts: PipelineParts,
): Stated<NewlyAdmitted> | Promise<Stated<NewlyAdmitted>> {
  const { request, found } = start;
  const tool = toolFacts(request, request.arguments, { method: 'tools/call', pin: found.pin }, parts.cipher);
  return tool instanceof Promise ? tool.then((facts) => admitted(start, facts, parts)) : admitted(start, tool, parts);
}

type NewlyAdmitted = Omit<Admitted, keyof ToolCallStart>;

function admitted(
  { request, found }: ToolCallStart,
  called: ToolFacts,
  { cipher }: PipelineParts,
): Stated<NewlyAdmitted> {
  const answers = Object.keys(request.input?.responses?.value ?? {}).length;
  const tool = answers > 0 ? { ...called, answers } : called;
  const { server, listed, fault } = found;
  const model = server && (listed ? `${toolSlug(server)}/${listed.name}` : toolSlug(server));
  const facts: CallFacts = { asked: { model: model ?? null, stream: false }, tool };
  try {
    refuseBeforeReading(request);
    if (fault) throw fault;
    if (!server || !listed) throw unknownTool();
    refuseOtherHeaders(request, listed);
    const sealed = request.input?.state;
    const state = sealed === undefined ? undefined : openState(cipher, request, server, sealed);
    return { server, listed, tool, state, facts };
  } catch (thrown) {
    throw new Stopped(thrown, facts);
  }
}

/** Proxies read headers: these must say the same as the arguments that the tool gets. */
function refuseOtherHeaders({ era, headers, arguments: args }: ToolCallRequest, listed: ListedTool): void {
  if (era.era !== 'modern') return;
  const header = unlikeHeader(listed.headers, args?.value ?? {}, headers);
  if (header === undefined) return;
  const message = `The header ${header} is missing, or differs from the argument that it repeats.`;
  throw new GatewayError('invalid_request', message, { param: header });
}

/** Whether policy and the server's rules let the workload call it so. */
function chooseTool({ request, found, server, listed }: Admitted): Stated<object> {
  const facts = routeTool(server, listed, request.key.workload, request.arguments?.value ?? {});
  if (server.auth.type === 'token_exchange' && request.subject === undefined)
    throw new Stopped(userNeeded(server), facts);
  if (!found.quarantined) return { facts };
  const message = 'The definition of this tool is new or has changed, and is not accepted yet: ask your administrator.';
  throw new Stopped(new GatewayError('tool_quarantined', message), facts);
}

/** A server that is asked for each user does nothing for a key. */
export function userNeeded({ name }: McpServerConfig): GatewayError {
  const message =
    `The MCP server ${name} is asked for the user of each call, and a virtual key has none. ` +
    'Send an access token of the user.';
  return new GatewayError('invalid_request', message, { param: 'authorization' });
}

interface Inspected extends Admitted {
  readonly inspection: Inspection | undefined;
  /** JSON source of the arguments as they are sent. */
  readonly sent: string | undefined;
  readonly sentValue: JsonObject;
  /** What answers the tool's questions, of all rounds: as the client wrote it, and as it is sent. JSON source. */
  readonly answers: { readonly written: readonly string[]; readonly sent: readonly string[] };
}

const NO_ANSWERS: Inspected['answers'] = { written: [], sent: [] };

/** Finds what must not leave in every string, number and name of the arguments, and of answers to the tool's questions. */
async function inspectArguments(
  { request, server, listed, state }: Admitted,
  parts: PipelineParts,
): Promise<Stated<Pick<Inspected, 'inspection' | 'sent' | 'sentValue' | 'answers'>>> {
  const { arguments: args, input } = request;
  const written = [...(state?.answers ?? []), ...(input?.responses ? [input.responses.source] : [])];
  if (!args && written.length === 0)
    return { inspection: undefined, sent: undefined, sentValue: {}, answers: NO_ANSWERS };
  const document = documentOf(args, written);
  const { inspection, facts } = await inspectLeaving(document, request, keptFrom(server, request), parts);
  const { sent, answers } = sentBy(inspection, document, args, written);
  if (state) refuseOtherRounds({ arguments: sent ?? '{}', answers }, state);
  if (inspection.edits.length === 0)
    return { inspection, sent, sentValue: args?.value ?? {}, answers: { written, sent: answers }, facts };
  const sentValue = JSON.parse(sent ?? '{}') as JsonObject;
  if (args && fitsNoLonger(listed.inputSchema, args.value, sentValue)) throw new Stopped(unfit(), facts);
  if (!isSendable(server, listed.name, sentValue)) throw new Stopped(unfit(), facts);
  const answered = answers.at(-1);
  if (state && input?.responses && answered !== undefined)
    refuseUnfit(state.forms, input.responses.value, JSON.parse(answered) as JsonObject);
  return { inspection, sent, sentValue, answers: { written, sent: answers }, facts };
}

/** The document that is inspected. */
function documentOf(args: ToolCallRequest['arguments'], answers: readonly string[]): WireDocument {
  return args && answers.length === 0
    ? argumentsDocument(args.source, args.value)
    : sayingDocument(args?.source, answers);
}

/** The arguments and the answers with the edits of an inspection. */
function sentBy(
  { edits }: Inspection,
  { text }: WireDocument,
  args: ToolCallRequest['arguments'],
  answers: readonly string[],
): { readonly sent: string | undefined; readonly answers: readonly string[] } {
  if (edits.length === 0) return { sent: args?.source, answers };
  const edited = render(text, edits);
  if (answers.length === 0) return { sent: argumentsIn(edited), answers };
  const parts = partsOfSaying(edited);
  return { sent: args && parts.arguments, answers: parts.answers };
}

function unfit(): GatewayError {
  return protection('an argument has personal data whose replacement the tool does not take', ['params.arguments']);
}

interface Metered extends Inspected {
  readonly target: DebitedTarget;
  readonly limits: Limits;
}

/** Holds its price. */
async function holdMoney(
  { request, server, listed }: Inspected,
  parts: PipelineParts,
): Promise<Stated<Pick<Metered, 'target' | 'limits'>>> {
  return holdServerCall(request, server, listed.name, parts);
}

/** Counts it against the limit of the server: a call that may now be made. */
async function countCall({ request, server }: Metered, parts: PipelineParts): Promise<Stated<object>> {
  await countServerCall(request, server, parts.meter);
  return {};
}

interface Answered extends Metered, EnteredServer {
  readonly answer: ToolAnswer;
  readonly answered: ToolFacts;
}

/** Asks the server, once. */
async function callTool(
  work: Metered & EnteredServer,
  parts: PipelineParts,
): Promise<Stated<Pick<Answered, 'answer' | 'answered' | 'inspection' | 'answers'>>> {
  const { request, server, listed, sent, sentValue, inspection, permit, tool, state, answers } = work;
  const givenMs = Math.min(server.timeoutSeconds, request.key.workload.policy.answerTimeoutSeconds) * 1000;
  const timeoutMs = Math.min(givenMs, answerTimeout(request));
  const input = inputMembers(request.input?.responses && answers.sent.at(-1), state);
  const said = { sent, sentValue, input, written: answers.written, answers: answers.sent, inspection };
  const asking = { request, server, listed, ...said, permit, timeoutMs, fair: timeoutMs === givenMs };
  const { answer, facts, asks } = await askServer(asking, parts).catch((thrown: unknown) => {
    if (thrown instanceof Stopped && thrown.facts.target) retainToolCall(work, '', parts);
    throw thrown;
  });
  const answered = {
    ...tool,
    ...(asks.methods.length > 0 && { asks: asks.methods }),
    eras: [...tool.eras, answer.version],
    result_bytes: Buffer.byteLength(answer.document.text),
  };
  const { inspection: inspected, written, sent: all } = asks;
  return {
    answer,
    answered,
    inspection: inspected,
    answers: { written, sent: all },
    facts: { ...facts, tool: answered },
    release: answer,
  };
}

/** What answers the server's questions, as members of the params. */
function inputMembers(responses: string | undefined, state: InputState | undefined): string {
  const given = responses === undefined ? '' : `"inputResponses":${responses},`;
  return state?.state === undefined ? given : `${given}"requestState":${JSON.stringify(state.state)},`;
}

/** Looks through the result, restores tags in it, and gives it the form of the client's era. */
async function passResult(
  work: Answered,
  parts: PipelineParts,
  stated: StatedFacts,
): Promise<Stated<{ readonly reply: ToolReply }>> {
  const { request, server, answer, answered, inspection, limits } = work;
  const said = { written: work.answers.written, sent: { arguments: work.sent ?? '{}', answers: work.answers.sent } };
  const looking = lookThrough({ request, server, answer, inspection, said }, parts);
  const { text, unrestored, isError, asks, findings, refusal, ...looked } = await looking.catch((thrown: unknown) => {
    retainToolCall(work, '', parts);
    throw thrown;
  });
  retainToolCall(work, unrestored, parts);
  const tool = { ...answered, ...(asks && { asks }), is_error: isError, result_findings: findings };
  const unscanned = [...new Set([...stated.unscanned, ...looked.unscanned])];
  if (refusal) throw new Stopped(refusal, { tool, unscanned });
  const told =
    request.server === undefined ? await linkedText({ text, request, known: answer.document }, server) : text;
  if (told instanceof GatewayError) throw new Stopped(told, { tool: { ...tool, is_error: true }, unscanned });
  return {
    reply: { kind: answer.kind, status: statusOf(answer, request), text: told, unscanned, limits },
    // A call is paid for when it is done, however many rounds it takes.
    facts: { tool, unscanned, ...(asks && { units: { calls: 0 } }), isServed: !request.signal.aborted },
  };
}

/** The modern revision has a status of its own for a capability that the client did not declare. */
export function statusOf({ kind, document }: ToolAnswer, { era }: Pick<ToolCallRequest, 'era'>): number {
  const isMissing = kind === 'error' && document.body['code'] === RPC.missingCapability;
  return isMissing && era.era === 'modern' ? 400 : 200;
}
