import { randomBytes } from 'node:crypto';
import type { Limits } from '#/ports/limit-counters.ts';
import { Stopped, type CallFacts } from '#/call/facts.ts';
import type { PassthroughAnswer, PassthroughCall } from '#/call/passthrough-call.ts';
import type { Target } from '#/call/target.ts';
import { AnswerTally } from '#/dispatch/answer-tally.ts';
import { listsOwn, ownList } from '#/dispatch/passthrough/own-list.ts';
import { pass } from '#/dispatch/passthrough/pass.ts';
import { hold } from '#/meter/meter.ts';
import { routePassthrough } from '#/route/route.ts';
import { encodeForm } from '#/wire/request/multipart-form.ts';
import { answerTimeout, refuseRemovedHeader } from './admit.ts';
import { readPassthroughBody, type ReadBody } from './passthrough/body.ts';
import { claimsOfPath } from './passthrough/claims.ts';
import { boundsOf, pricedAs, withQuantities } from './passthrough/bounds.ts';
import { PassthroughInspector } from './passthrough/inspector.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type CallStart, type Stated } from './run-call.ts';

export interface PassthroughStart extends CallStart<PassthroughCall> {
  /** Takes the parts of the answer. Resolves with false where the client is gone. */
  readonly emit: (answer: PassthroughAnswer) => boolean | Promise<boolean>;
}

/** A call's way when nothing of it is translated: audio, video, files, paths that policy opens. // spec 1.1 */
export const PASSTHROUGH = new Steps<PipelineParts, PassthroughStart>()
  .step('admit', admitRequest)
  .step('inspect', inspectBody)
  .step('route', locate)
  .step('route', chooseTarget)
  .step('meter', holdMoney)
  .step('dispatch', passOn);

interface Admitted extends PassthroughStart {
  readonly timeoutMs: number;
}

function admitRequest({ request }: PassthroughStart): Pick<Admitted, 'timeoutMs'> {
  refuseRemovedHeader(request.headers);
  return { timeoutMs: answerTimeout(request) };
}

interface Inspected extends Admitted {
  readonly inspector: PassthroughInspector;
  readonly body: ReadBody;
}

/** Reads and inspects what must be known before it is routed; of a form the rest is inspected while it is sent. */
async function inspectBody(
  { request }: Admitted,
  parts: PipelineParts,
): Promise<Stated<Pick<Inspected, 'inspector' | 'body'>>> {
  const inspector = new PassthroughInspector(request, parts);
  try {
    const body = await readPassthroughBody(inspector);
    const asked = { model: body.model ?? null, stream: false };
    return { inspector, body, facts: { ...inspector.facts, asked } };
  } catch (thrown) {
    throw new Stopped(thrown, inspector.facts);
  }
}

interface Located extends Inspected {
  /** The request with what it is billed by, and with the provider of what its path names. */
  readonly call: PassthroughCall;
}

/** Finds the provider of what the path names, where its id alone must say. Throws `not_found`, `objects_unavailable`. */
async function locate({ request, body }: Inspected, { ownership }: PipelineParts): Promise<Pick<Located, 'call'>> {
  const call = withQuantities(request, body.model);
  const { objects, objectId: id, provider, prefixIds } = call;
  if (objects === 'none' || id === undefined || provider !== undefined || prefixIds) return { call };
  return { call: { ...call, provider: await ownership.providerOf(call, { kind: objects.kind, id, param: 'id' }) } };
}

interface Routed extends Located {
  readonly target: Target;
}

/**
 * Chooses the target, and the credential if only one can be used. Objects it names must belong to its workload. Also
 * throws
 * `not_found`, `permission_denied`, `invalid_request` or `objects_unavailable`, too.
 */
async function chooseTarget({ call, body }: Located, parts: PipelineParts): Promise<Stated<Pick<Routed, 'target'>>> {
  const { targets, route, shadow } = routePassthrough(call, body.model, parts);
  const facts = { route, shadow };
  const target = pricedAs(targets[0], call, body.model);
  try {
    const claims = [...claimsOfPath(call, body.path), ...body.claims];
    const account = await parts.ownership.check(call, target.provider.config, claims);
    return { target: account === undefined ? target : { ...target, account }, facts };
  } catch (thrown) {
    throw new Stopped(thrown, facts);
  }
}

interface Metered extends Routed {
  readonly limits: Limits;
}

async function holdMoney(
  { call, body, target }: Routed,
  parts: PipelineParts,
): Promise<Stated<Pick<Metered, 'limits'>>> {
  parts.writer.requireRoom();
  const asked = { model: body.model ?? null, stream: false };
  const held = await hold(call, asked, [target], boundsOf(call, body), parts.meter);
  return { limits: held.limits, facts: { hold: held.money } };
}

/** Sends it once, since its body cannot be sent twice, and hands the answer on as it comes. */
async function passOn(
  { call, body, target, limits, timeoutMs, inspector, emit }: Metered,
  parts: PipelineParts,
): Promise<Stated<object>> {
  const upstreamModel = target.provider.upstreamModel(target.model);
  const boundary = `gatewarden-${randomBytes(18).toString('hex')}`;
  const form = body.parts?.(upstreamModel);
  const passing = {
    method: call.method,
    path: body.path,
    contentType: form ? `multipart/form-data; boundary=${boundary}` : body.contentType,
    body: form ? encodeForm(form, boundary) : body.json?.(upstreamModel, target.provider.config.slug),
    headers: call.headers,
    timeoutMs,
    signal: call.signal,
  };
  const sent = { ...body, isForm: form !== undefined };
  const tally = new AnswerTally();
  const facts = (): CallFacts => Object.assign({ ...inspector.facts }, tally);
  try {
    const answers = listsOwn(call, target)
      ? ownList(call, target, { ...passing, limits }, parts, tally)
      : pass(call, target, { passing, sent, limits, unscanned: () => inspector.unscanned }, parts, tally);
    for await (const answer of answers) if (!(await emit(answer))) break;
    return { facts: facts() };
  } catch (thrown) {
    throw new Stopped(thrown, facts());
  }
}
