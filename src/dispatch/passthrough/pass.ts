import type { ProviderConfig } from '#/config/snapshot.ts';
import { restarting } from '#/errors/gateway-error.ts';
import type { PassthroughCall, PassthroughAnswer } from '#/call/passthrough-call.ts';
import { ServerRestarting } from '#/call/call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import { UpstreamFault, type Incoming, type Passing } from '#/ports/provider.ts';
import type { AnswerTally } from '../answer-tally.ts';
import { attemptReport, type AttemptOutcome } from '../attempts.ts';
import type { Ownership } from '../kept/ownership.ts';
import { PassedAnswer, type SentBody } from './passed-answer.ts';
import { isJson, MAX_LOOKED_AT, prefixed, recordMade, sharedList } from './passed-objects.ts';
import type { Target } from '#/call/target.ts';
import type { Upstreams, AttemptPermit } from '../upstream/upstreams.ts';
import { readRefusal } from '../upstream/upstream-refusal.ts';
import { withoutCredentials } from '../upstream/without-credentials.ts';
import { noAnswer, nobodyToAsk, outcomeOfFault } from '../upstream/upstream-error.ts';

/** What of a provider's headers reaches the client. */
const PASSED_HEADERS = ['content-type', 'content-length', 'content-disposition', 'content-range', 'accept-ranges'];

export interface PassDeps {
  readonly upstreams: Upstreams;
  readonly ownership: Ownership;
}

/** A passthrough call on its way out. */
export interface Outbound {
  readonly passing: Omit<Passing, 'credential'>;
  readonly sent: SentBody;
  /** State of the limits, for headers of the answer. */
  readonly limits: Limits;
  /** Kinds of content that were not inspected, as far as the body was sent. */
  readonly unscanned: () => readonly string[];
}

/**
 * Sends a passthrough call once (its body cannot be sent twice) and streams the answer on. The result is in `tally`,
 * also when it rejects.
 */
export async function* pass(
  call: PassthroughCall,
  target: Target,
  { passing, sent, limits, unscanned }: Outbound,
  { upstreams, ownership }: PassDeps,
  tally: AnswerTally,
): AsyncGenerator<PassthroughAnswer> {
  const { provider, model, family } = target;
  const { config } = provider;
  const { slug } = config;
  const { objects } = call;
  if (objects !== 'none' && objects.act.startsWith('make')) await ownership.requireRecords(config);
  const permit = upstreams.enter(target);
  if (!permit) throw nobodyToAsk([upstreams.health(target)]);
  tally.target = { provider: slug, model, family, jurisdiction: provider.jurisdiction(model) };
  const sending: Sending = { size: 0, failure: undefined };
  let incoming: Incoming | undefined;
  try {
    incoming = await ask(target, passing, sending, permit, tally);
    tally.isAnswering = true;
    permit.answering();
    const credential = permit.credential?.name ?? '';
    const answer = new PassedAnswer(call, { ...sent, ...sent.sayingAll?.() }, tally, incoming.header('content-type'));
    answer.begin(sending.size);
    const kinds = unscanned();
    const told = {
      ...passedHeaders(incoming, call, config),
      ...(kinds.length > 0 && { 'x-gw-unscanned': kinds.join(', ') }),
    };
    const head = { kind: 'head', status: incoming.status, headers: told, limits } as const;
    if (objects !== 'none' && objects.act === 'list') {
      const text = await sharedList(incoming, call, config, answer, ownership);
      yield head;
      yield { kind: 'bytes', bytes: Buffer.from(prefixed(text, slug)) };
    } else {
      yield head;
      const kept = (text: string): Promise<void> => recordMade(call, config, credential, text, ownership);
      yield* isJson(incoming) ? whole(incoming, call, slug, answer, kept) : pieces(incoming, call, answer);
    }
    if (call.objectId !== undefined && objects !== 'none' && objects.act === 'remove')
      await ownership.deleted(config, call.objectId);
    tally.isServed = true;
    permit.end('served');
  } catch (thrown) {
    // Bodies go at the client's pace both ways: a timeout may be its own.
    permit.end(call.signal.aborted ? 'unknown' : outcomeOfFault(thrown, false));
    throw explain(thrown, call, tally);
  } finally {
    permit.end('unknown');
    incoming?.close();
  }
}

/** The head of a successful answer. Throws for any other answer. */
async function ask(
  target: Target,
  passing: Outbound['passing'],
  sending: Sending,
  permit: AttemptPermit,
  { attempts }: AnswerTally,
): Promise<Incoming> {
  const started = performance.now();
  const { provider } = target;
  const report = (outcome: AttemptOutcome): void => void attempts.push(attemptReport(target, outcome, started));
  const body = passing.body && watched(passing.body, sending);
  let incoming: Incoming;
  try {
    incoming = await provider.pass!({ ...passing, body, credential: permit.credential });
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFault)) throw thrown;
    report({ error: thrown.kind, sent: thrown.sent });
    // A body that broke off on our side is the client's fault, or policy's, not the provider's.
    const fault: unknown = sending.failure ?? thrown;
    throw fault;
  }
  if (incoming.status >= 200 && incoming.status < 300) {
    report({ status: incoming.status, sent: true });
    return incoming;
  }
  const { status, error } = await readRefusal(incoming, provider, permit, attempts);
  report({ status, sent: true });
  throw error;
}

/** How the sending of a body is getting on: bytes so far, and why it broke off. */
interface Sending {
  size: number;
  failure: unknown;
}

async function* watched(body: AsyncIterable<Uint8Array>, sending: Sending): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of body) {
      sending.size += bytes.length;
      yield bytes;
    }
  } catch (thrown) {
    sending.failure = thrown;
    throw thrown;
  }
}

function passedHeaders(
  incoming: Incoming,
  { prefixIds }: PassthroughCall,
  { credentials }: ProviderConfig,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of PASSED_HEADERS) {
    const value = incoming.header(name);
    // Prefixed ids make the answer longer than the provider said.
    if (value === undefined || (prefixIds && name === 'content-length')) continue;
    if (withoutCredentials(value, credentials) === value) headers[name] = value;
  }
  return headers;
}

async function* pieces(
  incoming: Incoming,
  { gate }: PassthroughCall,
  answer: PassedAnswer,
): AsyncGenerator<PassthroughAnswer> {
  const isEvents = gate !== undefined && /^text\/event-stream\b/i.test(incoming.header('content-type') ?? '');
  const end: Uint8Array[] = [];
  let size = 0;
  for await (const bytes of incoming.chunks()) {
    answer.add(bytes.length);
    if (isEvents) {
      end.push(bytes);
      size += bytes.length;
      while (size - end[0]!.length >= END_BYTES) size -= end.shift()!.length;
    }
    yield { kind: 'bytes', bytes };
  }
  if (isEvents) answer.readEvents(Buffer.concat(end).subarray(-END_BYTES).toString('utf8'));
}

/** Usage stands at the end of a stream. */
const END_BYTES = 16 * 1024;

/** A JSON answer is gathered as far as it is looked at: for its usage, and for ids that are given their prefix. */
async function* whole(
  incoming: Incoming,
  { prefixIds }: PassthroughCall,
  slug: string,
  answer: PassedAnswer,
  kept: (text: string) => Promise<void>,
): AsyncGenerator<PassthroughAnswer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const source = incoming.chunks()[Symbol.asyncIterator]();
  for (let next = await source.next(); ; next = await source.next()) {
    if (next.done === true) break;
    chunks.push(next.value);
    size += next.value.length;
    answer.add(next.value.length);
    if (size <= MAX_LOOKED_AT) continue;
    for (const bytes of chunks) yield { kind: 'bytes', bytes };
    for (let rest = await source.next(); rest.done !== true; rest = await source.next()) {
      yield { kind: 'bytes', bytes: rest.value };
    }
    return;
  }
  const all = Buffer.concat(chunks);
  const text = all.toString('utf8');
  const isObject = answer.read(text);
  if (isObject) await kept(text);
  const shown = isObject && prefixIds ? prefixed(text, slug) : text;
  // Unchanged text keeps its bytes, whatever they are: their number was announced.
  yield { kind: 'bytes', bytes: shown === text ? all : Buffer.from(shown) };
}

export function explain(thrown: unknown, { signal }: PassthroughCall, tally: AnswerTally): unknown {
  if (signal.aborted && signal.reason instanceof ServerRestarting) return restarting();
  return thrown instanceof UpstreamFault ? noAnswer(thrown, tally.attempts) : thrown;
}
