import { GatewayError } from '#errors/gateway-error.ts';
import type { Passage, PassageAnswer } from '#pipeline/passage.ts';
import { ServerRestarting, type Limits } from '#pipeline/call.ts';
import { UpstreamFault, type Incoming, type Passing } from '#ports/provider.ts';
import type { Entry } from '#seal/entry.ts';
import { readDocument, render, setString, type Edit } from '#wire/document.ts';
import { isObject, type Json } from '#wire/json.ts';
import { member, type JsonNode } from '#wire/scan.ts';
import { NO_USAGE, type Usage } from '#wire/usage.ts';
import type { Target } from './plan.ts';
import type { Endpoints, Visit } from './endpoints.ts';
import { readRefusal } from './refusal.ts';
import { noAnswer, nobodyToAsk, outcomeOfFault } from './upstream-error.ts';

/** A JSON answer up to this size is looked at for its usage; a larger one is pictures. */
const MAX_LOOKED_AT = 8 * 1024 * 1024;

/** What of a provider's headers reaches the client. */
const PASSED_HEADERS = ['content-type', 'content-length', 'content-disposition', 'content-range', 'accept-ranges'];

/** Sends a passage once (its body cannot be sent twice) and hands on the answer as it comes. */
export async function* pass(
  passage: Passage,
  target: Target,
  passing: Omit<Passing, 'credential'>,
  endpoints: Endpoints,
  limits: Limits,
  entry: Entry,
): AsyncGenerator<PassageAnswer> {
  const { provider, model, family } = target;
  const { slug } = provider.config;
  const visit = endpoints.enter(target);
  if (!visit) throw nobodyToAsk([endpoints.availability(target)]);
  entry.target = { provider: slug, model, family, jurisdiction: provider.jurisdiction(model) };
  let incoming: Incoming | undefined;
  try {
    incoming = await ask(target, passing, visit, entry);
    entry.answering = true;
    visit.answering();
    const unscanned = entry.unscanned.length > 0 ? { 'x-gw-unscanned': entry.unscanned.join(', ') } : {};
    const told = { ...passedHeaders(incoming, passage), ...unscanned };
    yield { kind: 'head', status: incoming.status, headers: told, limits };
    yield* isJson(incoming) ? whole(incoming, passage, slug, entry) : pieces(incoming);
    entry.served();
    visit.end('served');
  } catch (thrown) {
    // Bodies go at the client's pace both ways: a timeout may be its own.
    visit.end(passage.signal.aborted ? 'unknown' : outcomeOfFault(thrown, false));
    throw explain(thrown, passage, entry);
  } finally {
    visit.end('unknown');
    incoming?.close();
  }
}

/** The answer's head, where it says that it worked. Throws what else came of it. */
async function ask(
  { provider, model }: Target,
  passing: Omit<Passing, 'credential'>,
  visit: Visit,
  { attempts }: Entry,
): Promise<Incoming> {
  const started = performance.now();
  const report = (outcome: { status?: number; error?: string }): void => {
    const { slug } = provider.config;
    attempts.push({ provider: slug, model, ...outcome, duration_ms: Math.round(performance.now() - started) });
  };
  let ours: unknown;
  const body = passing.body && watched(passing.body, (thrown) => (ours = thrown));
  let incoming: Incoming;
  try {
    incoming = await provider.pass!({ ...passing, body, credential: visit.credential });
  } catch (thrown) {
    if (!(thrown instanceof UpstreamFault)) throw thrown;
    report({ error: thrown.kind });
    // A body that broke off on our side is the client's fault, or policy's, not the provider's.
    const fault: unknown = ours ?? thrown;
    throw fault;
  }
  if (incoming.status >= 200 && incoming.status < 300) {
    report({ status: incoming.status });
    return incoming;
  }
  const { status, error } = await readRefusal(incoming, provider, visit, attempts);
  report({ status });
  throw error;
}

/** A request body that tells why it broke off. */
async function* watched(
  body: AsyncIterable<Uint8Array>,
  onFailure: (thrown: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (thrown) {
    onFailure(thrown);
    throw thrown;
  }
}

function passedHeaders(incoming: Incoming, { prefixIds }: Passage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of PASSED_HEADERS) {
    const value = incoming.header(name);
    // Prefixed ids make the answer longer than the provider said.
    if (value !== undefined && !(prefixIds && name === 'content-length')) headers[name] = value;
  }
  return headers;
}

async function* pieces(incoming: Incoming): AsyncGenerator<PassageAnswer> {
  for await (const bytes of incoming.chunks()) yield { kind: 'bytes', bytes };
}

/** A JSON answer is gathered as far as it is looked at: for its usage, and for ids that are given their prefix. */
async function* whole(
  incoming: Incoming,
  { prefixIds }: Passage,
  slug: string,
  entry: Entry,
): AsyncGenerator<PassageAnswer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const source = incoming.chunks()[Symbol.asyncIterator]();
  for (let next = await source.next(); ; next = await source.next()) {
    if (next.done === true) break;
    chunks.push(next.value);
    size += next.value.length;
    if (size <= MAX_LOOKED_AT) continue;
    for (const bytes of chunks) yield { kind: 'bytes', bytes };
    for (let rest = await source.next(); rest.done !== true; rest = await source.next()) {
      yield { kind: 'bytes', bytes: rest.value };
    }
    return;
  }
  const text = Buffer.concat(chunks).toString('utf8');
  yield { kind: 'bytes', bytes: Buffer.from(look(text, prefixIds ? slug : undefined, entry)) };
}

function look(text: string, slug: string | undefined, entry: Entry): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (!isObject(body)) return text;
  const { usage, duration, data } = body;
  const told = usageOf(usage);
  if (told) entry.usage = told;
  const seconds = isObject(usage) && usage['type'] === 'duration' ? usage['seconds'] : duration;
  entry.units = {
    ...(typeof seconds === 'number' && seconds >= 0 && { seconds: Math.ceil(seconds) }),
    ...(Array.isArray(data) && { images: data.length }),
  };
  return slug === undefined ? text : prefixed(text, slug);
}

/** Usage of audio and images: `{input_tokens, output_tokens}`, in which nothing is cached. */
function usageOf(usage: Json | undefined): Usage | undefined {
  if (!isObject(usage)) return undefined;
  const { input_tokens: input, output_tokens: output } = usage;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return { ...NO_USAGE, input: Math.max(0, Math.floor(input)), output: Math.max(0, Math.floor(output)) };
}

/** Puts the provider before the ids of the answer, so that a later call by one of them finds its way. // design 11 */
function prefixed(text: string, slug: string): string {
  const { root } = readDocument('passthrough', text, { lenient: true });
  const edits: Edit[] = [];
  const prefix = (node: JsonNode | undefined): void => {
    if (node?.kind === 'string' && node.value !== '') edits.push(setString(node, `${slug}~${node.value}`));
  };
  for (const name of ['id', 'first_id', 'last_id']) prefix(member(root, name));
  const data = member(root, 'data');
  if (data?.kind === 'array') for (const item of data.items) prefix(member(item, 'id'));
  return render(text, edits);
}

function explain(thrown: unknown, { signal }: Passage, entry: Entry): unknown {
  if (signal.aborted && signal.reason instanceof ServerRestarting) {
    return new GatewayError('server_restarting', 'The gateway is restarting; send the request again.');
  }
  return thrown instanceof UpstreamFault ? noAnswer(thrown.kind, entry.attempts) : thrown;
}

function isJson(incoming: Incoming): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(incoming.header('content-type') ?? '');
}
