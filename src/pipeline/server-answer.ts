import { Stopped, type CallFacts, type ToolFacts } from '#/call/facts.ts';
import type { AttemptReport } from '#/errors/gateway-error.ts';
import { toolSlug } from '#/route/tools.ts';
import { routeAnswer } from '#/route/tools/servers.ts';
import { isObject, type Json, type JsonObject } from '#/wire/document/json.ts';
import { render, type WireDocument } from '#/wire/document/document.ts';
import { member } from '#/wire/document/scan.ts';
import { partsOfSaying, sayingDocument } from '#/wire/mcp/input.ts';
import { RPC } from '#/wire/mcp/message.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type Stated } from './run-call.ts';
import { attemptOf, errorOf } from './tools/server-faults.ts';
import type { AnswerEnd, AnswerStart } from './tools/clients/answer.ts';
import { inspectLeaving } from './tools/inspect-given.ts';
import { refuseOtherRounds, refuseUnfit } from './tools/clients/inspect-answers.ts';
import { digestOf } from './tools/clients/input-state.ts';

/** The way of an answer to a server, with a row of its own: something leaves. It costs nothing: the call is paid for. */
export const SERVER_ANSWER = new Steps<PipelineParts, AnswerStart>()
  .step('route', routeIt)
  .step('inspect', inspectAnswer)
  .step('dispatch', sendAnswer);

interface Routed extends AnswerStart {
  /** What the answer says: the name of its member, and its JSON source. */
  readonly told: { readonly name: 'result' | 'error'; readonly source: string };
  readonly about: CallFacts;
}

interface Inspected extends Routed, AnswerEnd {
  readonly member: string;
}

/** Policy may keep the client from the server altogether. */
async function routeIt(work: AnswerStart, parts: PipelineParts): Promise<Stated<Pick<Routed, 'told' | 'about'>>> {
  const { request, server, tool, document } = work;
  const told = answerIn(document);
  const about = factsOf(work, told.source, parts);
  try {
    return { told, about, facts: { ...about, ...routeAnswer(server, tool, request.key.workload) } };
  } catch (thrown) {
    throw thrown instanceof Stopped ? new Stopped(thrown.cause, { ...about, ...thrown.facts }) : thrown;
  }
}

/** Finds what must not leave: the same text has the same tag in the arguments, in earlier answers and in this one. */
async function inspectAnswer(
  work: Routed,
  parts: PipelineParts,
): Promise<Stated<AnswerEnd & Pick<Inspected, 'member'>>> {
  const { request, said, form, about } = work;
  const { name, source } = work.told;
  const saying = sayingDocument(said.arguments, [...said.answers, source]);
  try {
    const { inspection, facts } = await inspectLeaving(saying, request, [], parts);
    const sent = partsOfSaying(render(saying.text, inspection.edits));
    const answer = sent.answers.at(-1) ?? '{}';
    const before = { state: undefined, answers: said.answers, forms: {} };
    refuseOtherRounds(sent, { ...before, sent: digestOf(said.sent.arguments, said.sent.answers) });
    if (isObject(form))
      refuseUnfit({ form }, { form: JSON.parse(source) as Json }, { form: JSON.parse(answer) as Json });
    return { member: `"${name}":${answer}`, inspection, written: source, sent, facts: { ...about, ...facts } };
  } catch (thrown) {
    if (!(thrown instanceof Stopped)) throw new Stopped(thrown, about);
    throw new Stopped(thrown.cause, { ...about, ...thrown.facts });
  }
}

/** The result or the error of a response, without what else it says. */
function answerIn({ body, root, text }: WireDocument): { readonly name: 'result' | 'error'; readonly source: string } {
  const { result, error } = body;
  const node = member(root, 'result');
  if (isObject(result) && node) {
    const { _meta: meta, ...rest } = result;
    return { name: 'result', source: meta === undefined ? text.slice(node.start, node.end) : JSON.stringify(rest) };
  }
  const { code, message }: JsonObject = isObject(error) ? error : {};
  const told = {
    code: typeof code === 'number' ? code : RPC.internal,
    message: typeof message === 'string' ? message : 'The client does not answer.',
  };
  return { name: 'error', source: JSON.stringify(told) };
}

function factsOf(
  { request, server, tool, method, eras }: AnswerStart,
  source: string,
  { cipher }: PipelineParts,
): CallFacts {
  const { organization, policy } = request.key.workload;
  const slug = toolSlug(server);
  const facts: ToolFacts = {
    arguments: cipher.names(organization.id, `tool arguments\n${source}`)[0] ?? null,
    definition: null,
    eras,
    is_error: false,
    method,
    result_bytes: 0,
    result_findings: {},
    result_mode: policy.toolDlp.results,
  };
  return { asked: { model: tool === undefined ? slug : `${slug}/${tool}`, stream: false }, tool: facts };
}

/** Sends it, once. */
async function sendAnswer({ request, server, tool, method, member: answer, send }: Inspected): Promise<Stated<object>> {
  const startedAt = performance.now();
  const report = (more: Partial<AttemptReport>): AttemptReport => ({
    provider: toolSlug(server),
    model: tool ?? method,
    host: new URL(server.url).host,
    jurisdiction: server.jurisdiction,
    duration_ms: Math.round(performance.now() - startedAt),
    sent: true,
    ...more,
  });
  const target = {
    provider: toolSlug(server),
    model: tool ?? method,
    jurisdiction: server.jurisdiction,
    family: 'mcp' as const,
  };
  try {
    await send(answer);
    return { facts: { target, attempts: [report({ status: 202 })], isServed: !request.signal.aborted } };
  } catch (thrown) {
    const attempt = report(attemptOf(thrown));
    throw new Stopped(errorOf(thrown, server, attempt), {
      attempts: [attempt],
      ...(attempt.sent === true && { target }),
    });
  }
}
