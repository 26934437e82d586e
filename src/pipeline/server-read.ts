import { Stopped, type CallFacts, type StatedFacts, type ToolFacts } from '#/call/facts.ts';
import type { ServerReadRequest } from '#/call/server-read.ts';
import type { DebitedTarget } from '#/call/target.ts';
import type { ToolArguments, ToolReply } from '#/call/tool-call.ts';
import type { McpServerConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { countServerCall } from '#/meter/server-calls.ts';
import type { ReadAsk, ToolAnswer } from '#/ports/mcp-servers.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { toolSlug } from '#/route/tools.ts';
import { routeRead } from '#/route/tools/reads.ts';
import { answerTimeout, refuseBeforeReading } from './admit.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type CallStart, type Stated } from './run-call.ts';
import { statusOf, userNeeded } from './tool-call.ts';
import { toolFacts } from './tools/tool-facts.ts';
import { askOnce, enterServer, type EnteredServer, type Sending } from './tools/ask-server.ts';
import type { FoundRead } from './tools/find-read.ts';
import { holdServerCall } from './tools/hold-server-call.ts';
import { inspectGiven } from './tools/inspect-given.ts';
import { clientText, lookThroughRead, misshapen } from './tools/read-results.ts';
import { inspectUri } from './tools/inspect-uri.ts';
import { retainToolCall } from './tools/retained-tool-call.ts';

export interface ServerReadStart extends CallStart<ServerReadRequest> {
  readonly found: FoundRead;
}

/** The way of a request that reads of a server: a resource, a prompt, completions. */
export const SERVER_READ = new Steps<PipelineParts, ServerReadStart>()
  .step('admit', admitRead)
  .step('route', chooseRead)
  .step('inspect', inspectAsked)
  .step('meter', holdMoney)
  .step('dispatch', enterServer)
  .step('meter', countRead)
  .step('dispatch', askForRead)
  .step('dispatch', passRead);

interface Admitted extends ServerReadStart {
  readonly server: McpServerConfig;
  readonly tool: ToolFacts;
}

/** Refuses what no policy need be asked about. */
function admitRead(
  start: ServerReadStart,
  { cipher }: PipelineParts,
): Stated<NewlyAdmitted> | Promise<Stated<NewlyAdmitted>> {
  const { request, found } = start;
  const tool = toolFacts(request, namedIn(request), { method: request.method, pin: found.pin }, cipher);
  return tool instanceof Promise ? tool.then((facts) => admitted(start, facts)) : admitted(start, tool);
}

type NewlyAdmitted = Omit<Admitted, keyof ServerReadStart>;

function admitted({ request, found }: ServerReadStart, tool: ToolFacts): Stated<NewlyAdmitted> {
  const { server, fault, id } = found;
  const facts: CallFacts = { asked: { model: server ? `${toolSlug(server)}/${id}` : null, stream: false }, tool };
  try {
    refuseBeforeReading(request);
    if (fault) throw fault;
    if (!server) throw new GatewayError('not_found', 'There is no MCP server with this name.');
    return { server, tool, facts };
  } catch (thrown) {
    throw new Stopped(thrown, facts);
  }
}

/** All that a client says of what it wants, for the digest in the row. */
function namedIn({ of, completes, arguments: args }: ServerReadRequest): ToolArguments {
  const value = {
    ...(of.kind === 'prompts' ? { name: of.name } : { uri: of.uri }),
    ...(completes !== undefined && { completes }),
    ...(args && { arguments: args.value }),
  };
  return { source: JSON.stringify(value), value };
}

/** Whether policy lets the workload read it. */
function chooseRead({ request, found, server }: Admitted): Stated<object> {
  const { id, own } = found;
  const facts = routeRead(server, { id, kind: request.of.kind, name: own }, request.key.workload);
  if (server.auth.type === 'token_exchange' && request.subject === undefined)
    throw new Stopped(userNeeded(server), facts);
  if (!found.quarantined) return { facts };
  const message =
    'The definition of this prompt is new or has changed, and is not accepted yet: ask your administrator.';
  throw new Stopped(new GatewayError('tool_quarantined', message), facts);
}

interface Inspected extends Admitted {
  readonly inspection: Inspection | undefined;
  /** JSON source of the params as they are sent, without `_meta`. */
  readonly sent: string;
}

/** Finds what must not leave in the address, or in the arguments. */
async function inspectAsked(
  { request, found, server }: Admitted,
  parts: PipelineParts,
): Promise<Stated<Pick<Inspected, 'inspection' | 'sent'>>> {
  const { arguments: args, of, method, completes } = request;
  const { own } = found;
  if (method === 'resources/read')
    return {
      inspection: undefined,
      sent: JSON.stringify({ uri: own }),
      facts: await inspectUri(own, request, server, parts),
    };
  const given = args && (await inspectGiven(args, request, server, parts));
  const name = JSON.stringify(own);
  const stated = { inspection: given?.inspection, ...(given && { facts: given.facts }) };
  if (method === 'prompts/get')
    return { ...stated, sent: given ? `{"name":${name},"arguments":${given.sent}}` : `{"name":${name}}` };
  const ref = of.kind === 'prompts' ? `{"type":"ref/prompt","name":${name}}` : `{"type":"ref/resource","uri":${name}}`;
  const { value = '', arguments: before } = given?.sentValue ?? {};
  const argument = JSON.stringify({ name: completes, value });
  const context = before === undefined ? '' : `,"context":${JSON.stringify({ arguments: before })}`;
  return { ...stated, sent: `{"ref":${ref},"argument":${argument}${context}}` };
}

interface Metered extends Inspected {
  readonly target: DebitedTarget;
  readonly limits: Limits;
}

/** Holds its price. */
async function holdMoney(
  { request, server, found }: Inspected,
  parts: PipelineParts,
): Promise<Stated<Pick<Metered, 'target' | 'limits'>>> {
  return holdServerCall(request, server, found.id, parts);
}

/** Counts it against the limit of the server: a request that may now be made. */
async function countRead({ request, server }: Metered, parts: PipelineParts): Promise<Stated<object>> {
  await countServerCall(request, server, parts.meter);
  return {};
}

interface Entered extends Metered, EnteredServer {}

interface Answered extends Entered {
  readonly answer: ToolAnswer;
  readonly answered: ToolFacts;
}

/** Asks the server, once. */
async function askForRead(work: Entered, parts: PipelineParts): Promise<Stated<Pick<Answered, 'answer' | 'answered'>>> {
  const { request, server, found, sent, inspection, permit, tool } = work;
  const { method } = request;
  const givenMs = Math.min(server.timeoutSeconds, request.key.workload.policy.answerTimeoutSeconds) * 1000;
  const timeoutMs = Math.min(givenMs, answerTimeout(request));
  const named: Pick<ReadAsk, 'name'> = method === 'completion/complete' ? {} : { name: found.own };
  const sending: Sending = {
    ...{ request, server, name: found.id, permit, timeoutMs, fair: timeoutMs === givenMs },
    said: { inspection, written: [] },
    send: (ask) => parts.tools.servers.read(server, { method, ...named, params: sent, ...ask }),
  };
  const { answer, facts } = await askOnce(sending, parts).catch((thrown: unknown) => {
    if (thrown instanceof Stopped && thrown.facts.target) retain(work, '', parts);
    throw thrown;
  });
  const answered = {
    ...tool,
    eras: [...tool.eras, answer.version],
    result_bytes: Buffer.byteLength(answer.document.text),
  };
  return { answer, answered, facts: { ...facts, tool: answered }, release: answer };
}

/** Looks through the answer, restores tags in it, and gives it the form of the client's era. */
async function passRead(
  work: Answered,
  parts: PipelineParts,
  stated: StatedFacts,
): Promise<Stated<{ readonly reply: ToolReply }>> {
  const { request, server, answer, answered, inspection, limits } = work;
  const fault = misshapen(request.method, answer);
  if (fault) throw new Stopped(fault, { tool: { ...answered, is_error: true } });
  const looking = lookThroughRead({ request, answer, inspection }, parts);
  const { text, unrestored, isError, findings, refusal, ...looked } = await looking.catch((thrown: unknown) => {
    retain(work, '', parts);
    throw thrown;
  });
  retain(work, unrestored, parts);
  const tool = { ...answered, is_error: isError, result_findings: findings };
  const unscanned = [...new Set([...stated.unscanned, ...looked.unscanned])];
  if (refusal) throw new Stopped(refusal, { tool, unscanned });
  const { kind, document } = answer;
  const told = await clientText({ text, request, known: document }, kind, server);
  if (told instanceof GatewayError) throw new Stopped(told, { tool: { ...tool, is_error: true }, unscanned });
  return {
    reply: { kind, status: statusOf(answer, request), text: told, unscanned, limits },
    facts: { tool, unscanned, isServed: !request.signal.aborted },
  };
}

function retain({ request, server, found, sent, inspection }: Metered, result: string, parts: PipelineParts): void {
  retainToolCall({ request, server, listed: { name: found.id }, sent, inspection }, result, parts);
}
