import { GatewayError } from '#/errors/gateway-error.ts';
import type { PassthroughCall, PassthroughAnswer } from '#/call/passthrough-call.ts';
import type { Limits } from '#/ports/limit-counters.ts';
import type { KeptObject, KeptQuery } from '#/ports/kept-objects.ts';
import { UpstreamFault, type Passing } from '#/ports/provider.ts';
import type { AnswerTally } from '../answer-tally.ts';
import { ID_SEPARATOR } from '#/wire/kept/names.ts';
import { isObject } from '#/wire/document/json.ts';
import { attemptReport, type AttemptOutcome } from '../attempts.ts';
import type { AttemptPermit } from '../upstream/upstreams.ts';
import { explain, type PassDeps } from './pass.ts';
import { prefixed } from './passed-objects.ts';
import type { Target } from '#/call/target.ts';
import { readRefusal } from '../upstream/upstream-refusal.ts';
import { nobodyToAsk, outcomeOfFault } from '../upstream/upstream-error.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
/** Objects that are asked for at a time. */
const AT_ONCE = 8;
const MAX_OBJECT_BYTES = 1024 * 1024;

/** Where objects of a kind are found. */
const FOLDERS: Readonly<Record<string, string>> = { file: 'files', video: 'videos', batch: 'batches' };
/** What a list may be asked for. `purpose` holds for what the provider says of the object. */
const PARAMETERS: ReadonlySet<string> = new Set(['limit', 'order', 'after', 'purpose']);

/** Whether a passthrough call lists objects of a shared account: then it gets only those of its workload. */
export function listsOwn({ objects, key }: Pick<PassthroughCall, 'objects' | 'key'>, { provider }: Target): boolean {
  if (objects === 'none' || objects.act !== 'list') return false;
  return provider.config.keyOwnership === 'managed' || key.workload.organization.sharedObjects === 'workload';
}

/**
 * A list of the workload's objects: by its records, each as the provider reports it now. Objects of others are never
 * requested. Objects that the provider no longer has are left out, and their records dropped.
 */
export async function* ownList(
  call: PassthroughCall,
  target: Target,
  { path, timeoutMs, limits }: { readonly path: string; readonly timeoutMs: number; readonly limits: Limits },
  { upstreams, ownership }: PassDeps,
  tally: AnswerTally,
): AsyncGenerator<PassthroughAnswer> {
  const { provider, model, family } = target;
  const { config } = provider;
  const { query, purpose } = readQuery(call, target, path);
  const records = await ownership.list({ ...query, limit: query.limit + 1 });
  tally.target = { provider: config.slug, model, family, jurisdiction: provider.jurisdiction(model) };
  const page = records.slice(0, query.limit);
  const texts: string[] = [];
  if (page.length > 0) {
    const permit = upstreams.enter(target);
    if (!permit) throw nobodyToAsk([upstreams.health(target)]);
    const started = performance.now();
    const ask = (record: KeptObject): Promise<string | undefined> =>
      objectText(record, call, target, permit, timeoutMs, tally);
    try {
      for (let at = 0; at < page.length; at += AT_ONCE) {
        const some = page.slice(at, at + AT_ONCE);
        const told = await Promise.all(some.map(ask));
        for (const [index, text] of told.entries()) {
          if (text !== undefined) texts.push(text);
          else await ownership.deleted(config, some[index]!.id);
        }
      }
      tally.attempts.push(attemptReport(target, { status: 200, sent: true }, started));
      tally.isAnswering = true;
      permit.answering();
      permit.end('served');
    } catch (thrown) {
      permit.end(call.signal.aborted ? 'unknown' : outcomeOfFault(thrown, false));
      throw explain(thrown, call, tally);
    } finally {
      permit.end('unknown');
    }
  }
  const shown = texts.filter((text) => purpose === undefined || memberOf(text, 'purpose') === purpose);
  const idOf = (record: KeptObject | undefined): string | null =>
    record ? config.slug + ID_SEPARATOR + record.id : null;
  const rest = { first_id: idOf(page[0]), last_id: idOf(page.at(-1)), has_more: records.length > page.length };
  const data = shown.map((text) => prefixed(text, config.slug)).join(',');
  const body = `{"object":"list","data":[${data}],${JSON.stringify(rest).slice(1)}`;
  yield { kind: 'head', status: 200, headers: { 'content-type': 'application/json' }, limits };
  yield { kind: 'bytes', bytes: Buffer.from(body) };
  tally.isServed = true;
}

/** The object as the provider tells it; undefined where it has it no longer. */
async function objectText(
  { id, kind, credential }: KeptObject,
  { signal }: PassthroughCall,
  target: Target,
  permit: AttemptPermit,
  timeoutMs: number,
  { attempts }: AnswerTally,
): Promise<string | undefined> {
  const { provider } = target;
  const account = provider.config.credentials.find(({ name }) => name === credential) ?? permit.credential;
  const passing: Passing = {
    method: 'GET',
    path: `/${FOLDERS[kind]}/${encodeURIComponent(id)}`,
    contentType: undefined,
    body: undefined,
    credential: account,
    timeoutMs,
    signal,
  };
  const started = performance.now();
  const report = (outcome: AttemptOutcome): void => void attempts.push(attemptReport(target, outcome, started));
  const incoming = await provider.pass!(passing).catch((thrown: unknown) => {
    if (thrown instanceof UpstreamFault) report({ error: thrown.kind, sent: thrown.sent });
    throw thrown;
  });
  try {
    if (incoming.status === 404) return undefined;
    if (incoming.status < 200 || incoming.status >= 300) {
      const { status, error } = await readRefusal(incoming, provider, permit, attempts);
      report({ status, sent: true });
      throw error;
    }
    const text = await incoming.text(MAX_OBJECT_BYTES);
    if (memberOf(text, 'id') !== id) throw new UpstreamFault('protocol', 'the provider told of another object');
    return text;
  } finally {
    incoming.close();
  }
}

function memberOf(text: string, name: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isObject(body) ? body[name] : undefined;
}

function readQuery(
  { objects, key }: PassthroughCall,
  { provider }: Target,
  path: string,
): { readonly query: KeptQuery; readonly purpose: string | undefined } {
  const asked = new URLSearchParams(path.includes('?') ? path.slice(path.indexOf('?') + 1) : '');
  const refuse = (param: string, message: string): GatewayError =>
    new GatewayError('invalid_request', message, { param });
  for (const name of asked.keys()) {
    if (PARAMETERS.has(name) && asked.getAll(name).length === 1) continue;
    throw refuse(name, `The list takes only the parameters ${[...PARAMETERS].join(', ')}, each once.`);
  }
  const limit = asked.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,4}$/.test(limit))
    throw refuse('limit', `limit must be a whole number from 1 to 99999. A page has at most ${MAX_LIMIT} entries.`);
  const order = asked.get('order') ?? 'desc';
  if (order !== 'asc' && order !== 'desc') throw refuse('order', 'order must be one of asc, desc.');
  const { id: workload, organization } = key.workload;
  const query: KeptQuery = {
    provider: provider.config.id,
    kind: objects === 'none' ? '' : objects.kind,
    organization: organization.id,
    workload,
    order,
    after: asked.get('after') ?? undefined,
    limit: Math.min(Number(limit), MAX_LIMIT),
  };
  return { query, purpose: asked.get('purpose') ?? undefined };
}
