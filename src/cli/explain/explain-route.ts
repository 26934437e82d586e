import { staysHere } from '#/config/local-provider.ts';
import type { ResolvedPolicy, Snapshot, VirtualKeyConfig, WorkloadConfig } from '#/config/snapshot.ts';
import { GatewayError } from '#/errors/gateway-error.ts';
import { createPriceBook, type PriceBook } from '#/meter/pricing/price-book.ts';
import { createProviders } from '#/providers/registry.ts';
import { createTransport } from '#/providers/http/transport.ts';
import { routeDifferences, targetsOf } from '#/route/decision.ts';
import { chooseModels, decide } from '#/route/plan.ts';
import type { RouteQuestion } from '#/route/route-question.ts';
import type { Target } from '#/call/target.ts';
import { chatCodec } from '#/wire/chat/codec.ts';
import { BadRequestShape, type Codec } from '#/wire/hub/codec.ts';
import { readDocument } from '#/wire/document/document.ts';
import { messagesCodec } from '#/wire/messages/codec.ts';
import { responsesCodec } from '#/wire/responses/codec.ts';
import { explainLocal } from './explain-local.ts';
import { requestLike, type Feature, type SurfaceName } from './explain-request.ts';
import { UsageError } from '../terminal/usage-error.ts';

const CODECS: Readonly<Record<SurfaceName, Codec>> = {
  chat: chatCodec,
  messages: messagesCodec,
  responses: responsesCodec,
};

/** A call to explain the route of. */
export interface ExplainQuestion {
  readonly snapshot: Snapshot;
  readonly workload: WorkloadConfig;
  readonly model: string;
  readonly surface: SurfaceName;
  readonly features: readonly Feature[];
  readonly usdToEur: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Writes whose policy it is, each of its fields with its origin, and what a policy in shadow mode has otherwise. */
export function writePolicy(workload: WorkloadConfig, write: (line: string) => void): void {
  write(`workload ${workload.id}, organization ${workload.organization.id}`);
  write('policy');
  for (const line of originLines(workload.policy)) write(`  ${line}`);
  if (workload.shadow) writeShadow(workload.policy, workload.shadow, write);
}

/**
 * Writes the policy of a workload with its origins, and the decision on each model that a call would consider, in the
 * words of the audit row. Returns the exit status: 0, or 1 when the call would be refused. Throws UsageError for a name
 * that is no model id.
 */
export function routeExplain(question: ExplainQuestion, write: (line: string) => void): number {
  const { workload, model, surface, features, usdToEur } = question;
  writePolicy(workload, write);
  const isLocal = staysHere(model, workload.organization);
  write(isLocal ? model : `${model} on ${surface}${features.length > 0 ? ` with ${features.join(', ')}` : ''}`);
  const deps = { providers: createProviders(createTransport()), prices: createPriceBook({ usdToEur }) };
  try {
    if (isLocal) return explainLocal(model, workload, deps.prices, question.at, write);
    return writeRoute(questionOf(question), workload, deps, write);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const { status, code, message } = thrown;
    write(`refused: ${status} ${code}: ${message}`);
    return 1;
  }
}

function originLines({ origins }: ResolvedPolicy): readonly string[] {
  return origins.map(({ field, value, from }) => `${field}: ${value} — ${from}`);
}

/** Writes the differences of the policy in shadow mode. */
function writeShadow(policy: ResolvedPolicy, shadow: ResolvedPolicy, write: (line: string) => void): void {
  write('in shadow mode');
  const inForce = new Set(originLines(policy));
  for (const line of originLines(shadow)) if (!inForce.has(line)) write(`  ${line}`);
}

/** Throws the `GatewayError` that the client would receive. */
function writeRoute(
  question: RouteQuestion,
  workload: WorkloadConfig,
  deps: Parameters<typeof decide>[3],
  write: (line: string) => void,
): number {
  const choice = chooseModels(question, deps);
  const decision = decide(question, choice, workload.policy, deps);
  for (const line of decision.trace) write(`  ${line}`);
  if (workload.shadow) {
    const differences = routeDifferences(decision, decide(question, choice, workload.shadow, deps));
    for (const { field, text } of differences) write(`  shadow: ${field}: ${text}`);
  }
  const priced: string[] = [];
  for (const target of targetsOf(decision)) {
    const id = `${target.provider.config.slug}/${target.model}`;
    const source = priceSource(target, question, deps.prices);
    write(`  ${id}: ${source === undefined ? 'skipped: its price is unknown' : `price from ${source}`}`);
    if (source !== undefined) priced.push(id);
  }
  if (priced.length === 0) throw new GatewayError('price_unknown', 'Models without a price are refused.');
  write(`asked in this order: ${priced.join(', ')}`);
  return 0;
}

function priceSource(
  { provider, model }: Target,
  { key, startedAt }: RouteQuestion,
  prices: PriceBook,
): string | undefined {
  return prices.find(key.workload.organization, provider.config, model, startedAt)?.source;
}

/** The smallest request of the surface that has these features, as routing sees it. */
function questionOf({ workload, model, surface, features, at }: ExplainQuestion): RouteQuestion {
  const codec = CODECS[surface];
  const text = JSON.stringify(requestLike(surface, model, features));
  const document = readDocument(codec.family, text);
  const key: VirtualKeyConfig = { id: 'explained', revoked: false, workload };
  try {
    const { media } = codec.contents(document);
    const ask = codec.ask(document);
    return { key, codec, document, ask, toolServers: undefined, headers: {}, media, startedAt: at };
  } catch (thrown) {
    if (thrown instanceof BadRequestShape) throw new UsageError(thrown.message);
    throw thrown;
  }
}
