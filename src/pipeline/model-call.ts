import type { Call, Emit, CallRequest } from '#/call/call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { Stopped, type CallFacts, type StatedFacts } from '#/call/facts.ts';
import type { Candidate, Candidates, Target } from '#/call/target.ts';
import { NOT_CACHED, type Recalled, type CacheHit } from '#/dispatch/cache/recalled.ts';
import { inspectedDocument, prepare } from '#/dispatch/prepare.ts';
import type { AttachmentReader } from '#/inspect/attachments/attached-file.ts';
import type { RecentDocuments } from '#/inspect/attachments/recent-documents.ts';
import type { OrganizationConfig } from '#/config/snapshot.ts';
import { detectionFor } from '#/inspect/detection.ts';
import { withPlainModel } from '#/inspect/ids.ts';
import { inspect, uninspected, type Inspection } from '#/inspect/inspect.ts';
import { guardScope } from '#/inspect/scope/scope-guard.ts';
import { userTextIn } from '#/inspect/user-text.ts';
import { count, hold, type Hold } from '#/meter/meter.ts';
import { usageBoundsOf, type UsageBounds } from '#/meter/usage-bounds.ts';
import { skipped } from '#/route/decision.ts';
import { withNearest } from '#/route/nearest-models.ts';
import { contentsBeside } from '#/route/provider-side-tools.ts';
import { routeCall } from '#/route/route.ts';
import { slicesFor } from '#/runtime/loop-slices.ts';
import { isLarge } from '#/wire/document/large-text.ts';
import { mayName } from '#/wire/kept/names.ts';
import { DECIDING, type WireDocument } from '#/wire/document/document.ts';
import { admit, admitLarge } from './admit.ts';
import type { PipelineParts } from './pipeline-parts.ts';
import { Steps, type CallStart, type Stated } from './run-call.ts';
import { AnswerTally } from '#/dispatch/answer-tally.ts';
import { recurringOf } from '#/dispatch/cache/hot-cache.ts';
import { askProviders, type Coming, type Retain } from '#/dispatch/dispatch.ts';
import { passOn } from '#/dispatch/pass-on.ts';
import { keptOf, retained, withAnswer } from '#/dispatch/retained-call.ts';
import type { ContentDraft } from '#/seal/content/content-writer.ts';

export interface ModelCallStart extends CallStart<CallRequest> {
  /** The body as received. */
  readonly text: string;
  /** Takes the parts of the answer. */
  readonly emit: Emit;
}

/** A model call's way, from its unread body to the end of its answer. // spec 1.1 */
export const MODEL_CALL = new Steps<PipelineParts, ModelCallStart>()
  .step('admit', readRequest)
  .step('inspect', guard)
  .step('inspect', inspectRequest)
  .step('route', chooseTargets)
  .step('route', prepareCandidates)
  .step('route', recallAnswer)
  .step('meter', holdMoney)
  .step('dispatch', accept)
  .replacingStep('dispatch', askCandidates)
  .step('dispatch', passAnswer)
  .step('dispatch', rememberAnswer);

interface Read extends ModelCallStart {
  readonly call: Call;
}

/** Reads the body and what it asks for. */
function readRequest(
  { request, text }: ModelCallStart,
  { detection, largeWork }: PipelineParts,
): Stated<Pick<Read, 'call'>> | Promise<Stated<Pick<Read, 'call'>>> {
  const slices = isLarge(text) ? slicesFor(text, request) : undefined;
  if (!slices) return readResults(withPlainModel(admit(request, text), detection));
  return admitLarge(request, text, slices, largeWork, (call) => withPlainModel(call, detection)).then(readResults);
}

function readResults(call: Call): Stated<Pick<Read, 'call'>> {
  const { ask, toolServers, place } = call;
  const { model, stream } = ask;
  return { call, facts: { asked: { model, stream }, toolServers: toolServers?.names ?? [] }, release: place };
}

/** Asks whether the user text is within the workload's purpose. */
function guard({ call }: Read, { models }: PipelineParts): Stated<object> | Promise<Stated<object>> {
  const { policy } = call.key.workload;
  if (policy.scopeGuard.mode === 'off') return {};
  return guardScope(policy, userTextIn(call.document), { models, signal: call.signal });
}

interface Inspected extends Read {
  readonly inspection: Inspection;
}

/** Finds what must not leave. What a local model decides by is protected like what leaves. // spec 4.4.8 */
async function inspectRequest({ call }: Read, parts: PipelineParts): Promise<Stated<Pick<Inspected, 'inspection'>>> {
  const { codec, ask, key, document, remove, isLocal } = call;
  const { policy, organization } = key.workload;
  if (isLocal && !DECIDING.has(codec.family)) return { inspection: uninspected(document, codec) };
  const stated = (found: CallFacts): CallFacts => ({
    findings: found.findings ?? {},
    unscanned: found.unscanned ?? [],
    detectors: parts.detectors.of(policy.dlp, found.unscanned ?? []),
    removed: remove.map(({ label }) => label),
  });
  try {
    const inspection = await inspect(
      document,
      call.toolServers ? contentsBeside(codec, call.toolServers) : codec,
      policy.dlp,
      remove,
      detectionFor(call, parts.detection),
      'decodeRequest' in codec ? attachmentReaderFor(call, parts.files) : undefined,
      modelsOf(ask.model, organization),
      call.slices,
    );
    return { inspection, facts: stated(inspection.facts) };
  } catch (thrown) {
    throw thrown instanceof Stopped ? new Stopped(thrown.cause, stated(thrown.facts)) : thrown;
  }
}

/**
 * Reads the files of a call in a family that can contain files. Reading that exceeds the answer timeout fails.
 * `documents` undefined: this installation does not process documents.
 */
function attachmentReaderFor(
  { signal, timeoutMs, key }: Call,
  documents: RecentDocuments | undefined,
): AttachmentReader {
  const engine = documents?.of(key.workload.organization.id);
  return { engine, signal: () => AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) };
}

/** The models that an id leads to: those of an alias, or itself. */
function modelsOf(model: unknown, { aliases }: Pick<OrganizationConfig, 'aliases'>): readonly string[] {
  if (typeof model !== 'string') return [];
  const alias = aliases.get(model);
  if (!alias) return [model];
  return [...alias.targets, ...alias.routes].map((target) => target.model);
}

interface Routed extends Inspected {
  readonly targets: readonly Target[];
}

/** Which targets may serve it, in the order they are tried. */
async function chooseTargets(
  { call, inspection }: Inspected,
  parts: PipelineParts,
): Promise<Stated<Pick<Routed, 'targets'>>> {
  const { key, codec, ask, document, headers, startedAt, toolServers, signal } = call;
  const { media } = inspection;
  const inspected = (): Promise<WireDocument> => inspectedDocument(call, inspection);
  const question = { key, codec, ask, document, headers, startedAt, toolServers, signal, media, inspected };
  const { targets, route, shadow } = await routeCall(question, parts);
  return { targets, facts: { route, shadow } };
}

interface Prepared extends Routed {
  readonly candidates: Candidates;
}

/** Writes the request for every target, less those that cannot be asked for it. */
async function prepareCandidates(
  { call, inspection, targets }: Routed,
  { media, ownership }: PipelineParts,
): Promise<Stated<Pick<Prepared, 'candidates'>>> {
  const route: string[] = [];
  const skip = (target: Target, why: string): void => void route.push(skipped(target, why));
  try {
    const prepared = await prepare(call, inspection, targets, media, skip);
    let namesObjects = call.slices !== undefined;
    for (const { family, body } of prepared) namesObjects ||= mayName(family, body);
    const candidates = namesObjects ? await ownership.claim(call, prepared, skip) : prepared;
    const [only] = candidates;
    const unscanned =
      candidates.length === 1 ? only.unscanned : [...new Set(candidates.flatMap((one) => one.unscanned))];
    return { candidates, facts: { route, unscanned } };
  } catch (thrown) {
    throw new Stopped(thrown, { route });
  }
}

interface LookedUp extends Prepared {
  readonly recalled: Recalled;
}

/** Looks for the answer in the gateway's own cache, where policy has one. */
function recallAnswer(
  { call, candidates }: Prepared,
  { answers, onEvent }: PipelineParts,
): Stated<Pick<LookedUp, 'recalled'>> | Promise<Stated<Pick<LookedUp, 'recalled'>>> {
  if (!call.key.workload.policy.responseCache.enabled) return { recalled: NOT_CACHED };
  return answers.recall(call, candidates).then((recalled) => {
    if (recalled.state !== 'off') onEvent({ kind: 'cache.asked', result: recalled.state });
    return { recalled, release: recalled };
  });
}

interface Metered extends LookedUp {
  readonly bounds: UsageBounds;
  /** Absent where the answer is at hand: no provider is asked for it, or paid. */
  readonly hold: Hold<Candidate> | undefined;
  readonly limits: Limits;
}

/** Holds what the call may use and cost at most. One that is answered from the cache is only counted. */
async function holdMoney(
  { call, inspection, candidates, recalled }: LookedUp,
  parts: PipelineParts,
): Promise<Stated<Pick<Metered, 'bounds' | 'hold' | 'limits'>>> {
  const bounds = usageBoundsOf(call, inspection, candidates);
  parts.writer.requireRoom();
  if (recalled.hit) return { bounds, hold: undefined, limits: await count(call, parts.meter) };
  try {
    const held = await hold(call, call.ask, candidates, bounds, parts.meter);
    const route =
      held.plan.length === candidates.length
        ? []
        : candidates.filter((one) => !held.plan.includes(one)).map((one) => skipped(one, 'its price is unknown'));
    return { bounds, hold: held, limits: held.limits, facts: { hold: held.money, route } };
  } catch (thrown) {
    throw withNearest(thrown, call.ask.model, call.key, { ...parts, at: call.startedAt });
  }
}

interface Accepted extends Metered {
  readonly headers: Readonly<Record<string, string>>;
}

/** From here on, only the provider can refuse the call. */
function accept(
  { call, emit, recalled, limits }: Metered,
  _: PipelineParts,
  stated: StatedFacts,
): Stated<Pick<Accepted, 'headers'>> | Promise<Stated<Pick<Accepted, 'headers'>>> {
  const headers: Record<string, string> = {};
  if (recalled.state !== 'off') headers['x-gw-cache'] = recalled.state;
  if (stated.unscanned.length > 0) headers['x-gw-unscanned'] = stated.unscanned.join(', '); // spec 4.3.5
  // Only sending is left to do.
  call.place?.[Symbol.dispose]();
  const emitted = emit({ kind: 'accepted', stream: call.ask.stream, headers, limits });
  return emitted instanceof Promise ? emitted.then(() => ({ headers })) : { headers };
}

/** A call once the head of its answer is there. Its prompt is no longer needed. */
interface Answering {
  readonly coming: Coming;
  readonly emit: Emit;
  /** Set where the answer came from the cache. */
  readonly repeatable: Repeatable | undefined;
}

/** A call that was answered from the cache, to be remembered. */
interface Repeatable {
  readonly call: Call;
  readonly inspection: Inspection;
  readonly hit: CacheHit;
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks the candidates, until the answer comes that is passed on. */
async function askCandidates(work: Accepted, parts: PipelineParts): Promise<Answering> {
  const { call, inspection, recalled, emit, headers } = work;
  const { hit } = recalled;
  const tally = new AnswerTally();
  try {
    const retain = call.key.workload.policy.contentRetention ? retainFor(work, parts) : undefined;
    const coming = await askProviders(work, parts, retain, tally);
    return { coming, emit, repeatable: hit && { call, inspection, hit, headers } };
  } catch (thrown) {
    throw new Stopped(thrown, tally);
  }
}

function retainFor({ call, inspection, recalled }: Accepted, { content }: PipelineParts): Retain {
  return (candidate) => retaining(keptOf(call, retained(call, inspection, candidate, recalled.hit)), content);
}

/** A function of its own: a closure within `retainFor` would hold the call. */
function retaining(draft: ContentDraft, content: PipelineParts['content']): ReturnType<Retain> {
  return (answer) => content.enqueue(answer ? withAnswer(draft, answer) : draft);
}

interface Answered extends Answering {
  /** The body as its client got it; empty unless it came from the cache. */
  readonly heard: string;
}

/** Hands the answer on as it comes. */
async function passAnswer({
  coming,
  emit,
  repeatable,
}: Answering): Promise<Pick<Answered, 'heard'> & { readonly facts: CallFacts }> {
  const { tally } = coming;
  let heard = '';
  const listening: Emit | undefined =
    repeatable &&
    ((answer) => {
      if (answer.kind === 'body') heard += answer.text;
      return emit(answer);
    });
  try {
    await passOn(coming, listening ?? emit);
    return { heard, facts: tally };
  } catch (thrown) {
    throw new Stopped(thrown, tally);
  }
}

/** Remembers a call that was answered from the cache, for the next one that is identical byte for byte. */
function rememberAnswer(
  { repeatable, heard }: Answered,
  { hotCache }: PipelineParts,
  stated: StatedFacts,
): Stated<object> {
  const row = repeatable && recurringOf(stated);
  if (!row) return {};
  const { call, inspection, hit, headers } = repeatable;
  // A translated answer bears the id of the call that it is for.
  if (!hit.stored || hit.candidate.translation) return {};
  const keeps = call.key.workload.policy.contentRetention;
  const content = keeps ? retained(call, inspection, hit.candidate, hit) : undefined;
  hotCache.note(call, call.document.text, { row, headers, text: heard, content }, hit.stored);
  return {};
}
