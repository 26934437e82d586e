import { LOCAL_PROVIDER } from '#/config/local-provider.ts';
import type { Demand } from '#/meter/usage-bounds.ts';
import type { Hold } from '#/meter/meter.ts';
import { inServiceTier, NO_USAGE } from '#/wire/answer/usage.ts';
import type { Inspection } from '#/inspect/inspect.ts';
import { ServerRestarting, type Call, type Emit } from '#/call/call.ts';
import { UpstreamFault, type Outgoing } from '#/ports/provider.ts';
import type { Entry } from '#/seal/call-record.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { readBuffered } from './relay/buffered.ts';
import type { Recalled } from './cache/answer-cache.ts';
import { attempt, type Answered } from './attempts.ts';
import type { Availability, Endpoints, Visit } from './endpoints.ts';
import { MadeObjects } from './kept/made-objects.ts';
import type { Ownership } from './kept/ownership.ts';
import type { LearnedRejects } from './unsupported-parameters.ts';
import { lossHeaders, tellableLosses } from './losses.ts';
import type { Candidate } from '#/call/target.ts';
import { RecordedAnswer, replayed } from './cache/recorded.ts';
import type { Relay } from './relay/relay.ts';
import { inSlices } from './relay/read-in-slices.ts';
import { noteWithheld, restorationFor } from './relay/restoring.ts';
import { TranslatedRelay } from './relay/translated-relay.ts';
import { noAnswer, outcomeOfFault, reportedError, ReportedFailure } from './upstream-error.ts';
import { UpstreamSignal } from './upstream-signal.ts';
import { VerbatimRelay } from './relay/verbatim-relay.ts';
import type { AnswerContext } from '#/wire/hub/codec.ts';

/** All that was decided about a call before it leaves. */
export interface Dispatch {
  readonly learned: LearnedRejects;
  readonly endpoints: Endpoints;
  readonly ownership: Ownership;
  readonly call: Call;
  readonly inspection: Inspection;
  readonly demand: Demand;
  /** Absent where the answer is at hand: nobody is asked for it, or paid. */
  readonly hold: Hold<Candidate> | undefined;
  readonly recalled: Recalled;
  /** Keeps what a candidate was sent and what it said, where policy wants content kept. */
  readonly retain: ((candidate: Candidate, answer: Buffer | undefined) => void) | undefined;
}

/** Asks the provider and relays its answer, restoring tags; the bytes of everything else stay as they came. */
export async function dispatch(work: Dispatch, entry: Entry, emit: Emit): Promise<void> {
  const { call, demand, recalled } = work;
  const upstream = new UpstreamSignal(call);
  let asked: Candidate | undefined;
  let answered: Answered | undefined;
  let answer: RecordedAnswer | undefined;
  const onAttempt = (candidate: Candidate): void => {
    asked = candidate;
    name(candidate, work, entry);
  };
  try {
    // A client that is gone already is not dispatched for, nor billed.
    if (call.signal.aborted) throw new UpstreamFault('aborted', 'the client hung up before dispatch');
    if (!recalled.hit) answered = await askProvider(work, upstream, onAttempt, entry);
    const { candidate, incoming } = answered ?? replay(recalled.hit!, onAttempt, entry);
    entry.begin();
    if (recalled.state === 'miss' || (work.retain && !recalled.hit))
      answer = new RecordedAnswer(incoming, () => recalled.letGo());
    const visit = answered?.visit;
    // An answer that was given before made what it made then.
    const made = visit && MadeObjects.of(call, candidate, visit.credential?.name, work.ownership);
    const source = { candidate, incoming: answer ?? incoming, visit, made };
    const context = contextOf(call, candidate, demand);
    const isHeard = call.ask.stream
      ? await streamed(work, source, entry, upstream, context, emit)
      : await buffered(work, source, entry, context, emit);
    if (!isHeard || call.signal.aborted) return;
    entry.served();
    answered?.visit.end('served');
    if (answer) recalled.keep(candidate, answer);
  } catch (thrown) {
    answered?.visit.end(call.signal.aborted ? 'unknown' : outcomeOfFault(thrown, answered.fair));
    throw explain(thrown, call, entry);
  } finally {
    answered?.visit.end('unknown');
    upstream.release();
    if (asked) work.retain?.(asked, answer?.bytes);
  }
}

/** Where an answer comes from: a provider, or the cache, which nobody visits. */
interface Source extends Pick<Answered, 'candidate' | 'incoming'> {
  readonly visit: Visit | undefined;
  readonly made: MadeObjects | undefined;
}

/** An answer that was given before, as if its provider gave it now. */
function replay(
  { candidate, answer }: NonNullable<Recalled['hit']>,
  onAttempt: (candidate: Candidate) => void,
  entry: Entry,
): Source {
  entry.cacheHit = 'exact';
  onAttempt(candidate);
  return { candidate, incoming: replayed(answer), visit: undefined, made: undefined };
}

function askProvider(
  { call, hold, recalled, learned, endpoints }: Dispatch,
  upstream: UpstreamSignal,
  onAttempt: (candidate: Candidate) => void,
  entry: Entry,
): Promise<Answered> {
  if (!hold) throw new Error('a provider was to be asked without a hold');
  return attempt(hold.plan, {
    outgoing: (asked, visit, timeoutMs) => outgoing(call, asked, visit, timeoutMs, upstream.signal),
    // Waiting for another call's answer was waiting for the provider's.
    timeoutMs: Math.max(1, call.timeoutMs - Math.floor(recalled.waitedMs)),
    patienceMs: call.key.workload.policy.answerTimeoutSeconds * 1000,
    signal: upstream.signal,
    report: entry.attempts,
    learned,
    endpoints,
    onAttempt,
    onLeftAlone: ({ provider, model }, cause) =>
      void entry.route.push(`${provider.config.slug}/${model}: left alone: ${LEFT_ALONE[cause]}`),
  });
}

/** Why an endpoint is not asked, in the words of the audit row. */
const LEFT_ALONE: Readonly<Record<Availability['cause'], string>> = {
  circuit_open: 'it has been failing',
  overloaded: 'it has asked to wait',
};

/** Names the candidate in the call's row, as the one that it is asked of now. */
function name({ provider, model, family, losses }: Candidate, { call, demand }: Dispatch, entry: Entry): void {
  entry.target = { provider: provider.config.slug, model, family, jurisdiction: provider.jurisdiction(model) };
  entry.losses = tellableLosses(losses);
  // Nothing says in which tier it is served until the provider does: it is billed as it was asked for.
  const output = call.ask.background === true ? (demand.ceiling.outputTokens ?? 0) : 0;
  entry.seen = inServiceTier({ ...NO_USAGE, input: demand.estimatedInput, output }, demand.servedAs);
  entry.units = call.ask.units;
  entry.believable = provider.config.slug === LOCAL_PROVIDER.slug ? undefined : demand.believable;
}

function outgoing(
  call: Call,
  { provider, model: id, family, body }: Candidate,
  { credential }: Visit,
  timeoutMs: number,
  signal: AbortSignal,
): Outgoing {
  const { headers, ask } = call;
  const model = provider.upstreamModel(id);
  const { stream, dialect } = ask;
  return { family, model, stream, body, headers, credential, timeoutMs, signal, ...(dialect && { dialect }) };
}

function contextOf(call: Call, { model }: Candidate, demand: Demand): AnswerContext {
  return {
    callId: call.id,
    model,
    createdAt: Math.floor(call.startedAt / 1000),
    request: call.document,
    includeUsage: call.ask.includeUsage,
    estimatedInput: demand.estimatedInput,
  };
}

/** Whether the answer was taken to its end. */
async function buffered(
  { call, inspection }: Dispatch,
  { candidate, incoming, made }: Source,
  entry: Entry,
  context: AnswerContext,
  emit: Emit,
): Promise<boolean> {
  const restoration = restorationFor(call, inspection);
  const text = await readBuffered(call, restoration, candidate, incoming, entry, context);
  const recording = made?.ofAnswer(text);
  if (recording) await recording;
  noteWithheld(restoration, entry);
  if (!(await emit({ kind: 'head', headers: lossHeaders(entry.losses) }))) return false;
  return emit({ kind: 'body', text });
}

/** Whether the answer was taken to its end. */
async function streamed(
  { call, inspection }: Dispatch,
  { candidate, incoming, visit, made }: Source,
  entry: Entry,
  upstream: UpstreamSignal,
  context: AnswerContext,
  emit: Emit,
): Promise<boolean> {
  const { translation } = candidate;
  const restoration = restorationFor(call, inspection);
  const relay = translation
    ? new TranslatedRelay(call, restoration, entry, candidate, translation, context)
    : new VerbatimRelay(call, restoration, entry, candidate);
  upstream.relay = relay;
  const chunks = inSlices(incoming.chunks());
  let head = false;
  /** Nothing more is to be read. */
  let over = false;
  try {
    while (!over) {
      const next = await chunks.next();
      over = next.done === true;
      const text = next.done ? relay.end() : relay.consume(next.value);
      if (!head && relay.begun) {
        head = true;
        visit?.answering();
        noteWithheld(restoration, entry);
        if (!(await emit({ kind: 'head', headers: lossHeaders(entry.losses) }))) return false;
      }
      if (head && text !== '' && !call.signal.aborted) {
        const recording = made?.ofEvents(text);
        if (recording) await recording;
        if (!(await emit({ kind: 'body', text }))) return false;
      }
      if (relay.failure !== undefined) throw relay.failure;
      over ||= relay.over;
    }
    if (!head) throw new UpstreamFault('reset', 'the stream ended before its answer began');
    return true;
  } finally {
    if (!over && !relay.failure && upstream.draining) await drain(chunks, relay);
    incoming.close();
    noteWithheld(restoration, entry);
  }
}

/** Reads on for the usage of a stream that nobody is listening to any more. */
async function drain(chunks: AsyncIterator<Uint8Array>, relay: Relay): Promise<void> {
  try {
    for (let next = await chunks.next(); !next.done && !relay.failure; next = await chunks.next()) {
      relay.consume(next.value);
      if (relay.over) return;
    }
  } catch {
    // Out of time, or the provider failed too: what was seen is billed.
  }
}

/** What a client is told whose call the end of this process has ended. */
export function restarting(): GatewayError {
  return new GatewayError('server_restarting', 'The gateway is restarting. Send the request again.');
}

/** What a fault behind the gateway is to the client. */
function explain(thrown: unknown, call: Call, entry: Entry): unknown {
  if (call.signal.aborted && call.signal.reason instanceof ServerRestarting) return restarting();
  if (thrown instanceof ReportedFailure) return reportedError(thrown, entry.attempts);
  if (!(thrown instanceof UpstreamFault)) return thrown;
  const last = entry.attempts.at(-1);
  // The attempt was reported when its head came; its failure came later.
  if (last?.status !== undefined && entry.answering)
    entry.attempts[entry.attempts.length - 1] = { ...last, error: thrown.kind };
  return noAnswer(thrown, entry.attempts);
}
